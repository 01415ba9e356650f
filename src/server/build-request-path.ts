// Who may ask, what a request passes behind the filters, and who else answers: extension servers and peers.
import { createTokenCacheMetrics } from '../authn/token-cache-metrics.js';
import type { HttpHandler, HttpResponse } from '../lib/http/http.js';
import type { UserInfo } from '../machinery/user.js';
import type { ObjectOperations } from '../registry/kind.js';
import { askWorker } from '../workers/ask-others.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';
import { createServerClient } from '../registry/server-client.js';
import { buildAuthentication } from './access/access.js';
import { buildAdmission } from './admission/admission.js';
import { buildAggregation } from './outgoing/aggregation.js';
import { buildAuthorization } from './access/authorization.js';
import { createDebug, type DebuggedWorker, type RelayedRequest } from './paths/debug.js';
import { debugFlags } from './paths/debug-flags.js';
import { deferredRef } from './lifecycle/deferred-ref.js';
import { createLoopback, LOOPBACK_USER } from './outgoing/loopback.js';
import { internalWriteAdmission } from './admission/internal-write-admission.js';
import { buildNodeAccess } from './outgoing/node-access.js';
import { buildOtherTokens } from './access/other-tokens.js';
import { buildPeers } from './outgoing/peers.js';
import { policiesWithWorkerFallback } from './worker/policies.worker.js';
import { buildStorageVersions } from './kinds/storage-versions.js';
import { verbositySetter } from './telemetry/shared-verbosity.js';
import type { Objects } from './build-objects.js';

export type RequestPath = ReturnType<typeof buildRequestPath>;

export function buildRequestPath(objects: Objects) {
  return addPath(buildAccess(objects));
}

/** Authentication and authorization. */
function buildAccess(parts: Objects) {
  const { options, logs, lifecycle, registry, dialers, resources, expressions, certificates, tokens } = parts;
  const authorization = buildAuthorization(options, {
    resources,
    dialer: dialers.controlplane,
    expressions,
    metrics: registry,
    stopping: lifecycle.stopping,
    reloads: lifecycle.reloads,
    log: logs.for('authorization'),
  });
  const cacheMetrics = createTokenCacheMetrics(registry);
  const authentication = buildAuthentication(options, {
    apiAudiences: options.authentication.apiAudiences,
    clientCaFile: certificates.clientCaFile,
    serviceAccounts: tokens.authenticators,
    other: buildOtherTokens(options, {
      resources,
      dialers,
      metrics: registry,
      cacheMetrics,
      stopping: lifecycle.stopping,
      reloads: lifecycle.reloads,
      log: logs.for('authentication'),
    }),
    cacheMetrics,
    metrics: registry,
    log: logs.for('authentication'),
  });
  parts.access.set({ authorization, authentication });
  return { ...parts, authorization, authentication };
}

/** The path of a request behind the filters, and who else answers: extension servers and peers. */
function addPath(parts: ReturnType<typeof buildAccess>) {
  const { options, logs, lifecycle, health, registry, hostname, dialers, resources, authorization, workers } = parts;
  const handlerRef = deferredRef<HttpHandler>();
  const loopback = createLoopback(() => handlerRef.value);
  const admission = buildAdmission(options, {
    resources,
    authorizer: authorization.authorizer,
    metrics: registry,
    policyCompiler: policiesWithWorkerFallback(parts.expressions, workers),
    dialers,
    itself: loopback.client,
    stopping: lifecycle.stopping,
    log: logs.for('admission'),
    workers,
  });
  const operationsAs = (user: UserInfo): ObjectOperations =>
    resources.operationsWith(internalWriteAdmission(resources, admission.reviewing, user));
  const admittedOperationsAs = (user: UserInfo): ObjectOperations =>
    resources.operationsWith(internalWriteAdmission(resources, admission.chain, user));
  const operations = operationsAs(LOOPBACK_USER);
  parts.own.set(operations);
  const nodes = buildNodeAccess(options.misc, {
    dialer: dialers.cluster,
    metrics: registry,
    onDrained: parts.onDrained,
  });
  const aggregation = buildAggregation(options, {
    resources,
    dialers,
    metrics: registry,
    stopping: lifecycle.stopping,
    reloads: lifecycle.reloads,
    log: logs.for('aggregation'),
  });
  const peers = buildPeers(options, {
    hostname,
    resources,
    dialers,
    health,
    lifecycle,
    metrics: registry,
    servesItself: ({ apiGroup, apiVersion, resource }) =>
      resources.find(apiGroup, apiVersion, resource) !== undefined ||
      aggregation.services.remote(`${apiVersion}.${apiGroup}`) !== undefined,
    log: logs.for('peers'),
  });
  const client = createServerClient({ operations, lookup: resources.lookup, context: parts.serverContext });
  const log = logs.for('storage-versions');
  return {
    ...parts,
    handlerRef,
    loopback,
    admission,
    operationsAs,
    admittedOperationsAs,
    operations,
    nodes,
    aggregation,
    peers,
    client,
    storageVersions: buildStorageVersions(options, { hostname, resources, client, log }),
    debug: createDebug({
      contentionProfiling: options.features.contentionProfiling,
      worker: parts.link && debuggedWorker(parts.link),
    }),
    debugFlags: debugFlags(verbositySetter(logs, parts.link?.channel)),
  };
}

const debuggedWorker = ({ index, count, channel }: SupervisorLink): DebuggedWorker => ({
  index,
  count,
  ask: async (other, request) => (await askWorker(channel, other, 'debug', request)) as HttpResponse,
  onAsked: (answer) => channel.handle('debug', (request) => answer(request as RelayedRequest)),
});

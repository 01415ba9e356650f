// The handler of all requests, with its filters.
import { type FaultInjection, faultInjection } from '../filters/fault-injection.js';
import type { HttpHandler } from '../lib/http/http.js';
import { createRestMetrics } from '../rest/contract/metrics.js';
import { WatchBuffers } from '../rest/wire/watch-buffers.js';
import { workerConverter } from '../rest/wire/convert-bytes.js';
import { MEDIA_TYPES, MEDIA_TYPES_WITH_CBOR } from '../rest/wire/media-types.js';
import type { RestServices } from '../rest/contract/services.js';
import { buildFlowControl } from './flow-control/flow-control.js';
import { SERVER_USER } from './outgoing/loopback.js';
import { buildRequestHandler } from './request-handler.js';
import type { RequestPath } from './build-request-path.js';

const MAX_BODY_BYTES = 3 * 1024 * 1024;

export function buildHandler(parts: RequestPath, faults: FaultInjection | undefined): HttpHandler {
  const { options, logs, lifecycle, metrics, registry, resources, link } = parts;
  const openSeatPool = parts.seats?.open;
  const handler = buildRequestHandler({
    ...parts,
    openSeatPool,
    services: restServices(parts),
    authentication: parts.loopback.authenticator(parts.authentication),
    flowControl: buildFlowControl(options, {
      resources,
      metrics: registry,
      requests: metrics.requests,
      channel: link?.channel,
      openSeatPool,
      stopping: lifecycle.stopping,
      log: logs.for('flow-control'),
    }),
    morePaths: parts.encryption?.paths ?? [],
    faults: faults && faultInjection(faults, SERVER_USER.name),
  });
  parts.handlerRef.set(handler);
  return handler;
}

function restServices(parts: RequestPath): RestServices {
  const { options, resources, registry, lifecycle } = parts;
  return {
    admission: parts.admission.chain,
    authorizer: parts.authorization.authorizer,
    features: options.featureGates,
    kindOptions: parts.kindOptions,
    lookup: resources.lookup,
    operations: resources.operations,
    ownOperations: parts.operations,
    nodes: parts.nodes,
    mediaTypes: options.featureGates.enabled('CBORServingAndStorage') ? MEDIA_TYPES_WITH_CBOR : MEDIA_TYPES,
    converter: workerConverter(parts.workers),
    clock: parts.clock,
    random: Math.random,
    minWatchSeconds: options.generic.minRequestTimeout,
    watchBuffers: new WatchBuffers(),
    metrics: createRestMetrics(registry),
    maxBodyBytes: MAX_BODY_BYTES,
    shutdown: lifecycle.stopping,
  };
}

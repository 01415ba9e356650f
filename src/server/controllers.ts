// Starts the small controllers that are enabled, each on its own.
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import { serviceAccountUser } from '../authn/service-account/identity.js';
import { createServerClient, type ServerClient } from '../registry/server-client.js';
import { startClusterRoleAggregation } from '../controllers/cluster-role-aggregation.js';
import type { ControllerParts, StartController } from '../controllers/controller.js';
import { startGarbageCollector } from '../controllers/garbage-collector/controller.js';
import { startNamespaceController } from '../controllers/namespace/controller.js';
import { startResourceQuotaController } from '../controllers/resource-quota.js';
import { startRootCaController } from '../controllers/root-ca.js';
import { startServiceAccountController } from '../controllers/service-account.js';
import { systemClock } from '../lib/async/clock.js';
import type { Logger } from '../lib/telemetry/log.js';
import { decodePem } from '../lib/x509/pem.js';
import type { ControllerName } from '../options/options.js';
import { AUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import type { PreparedCertificates } from './listener/prepare-certificates.js';
import { nameSuffix } from './kinds/name-suffix.js';
import type { Resources } from './kinds/resources.js';
import { startWorkloads } from '../workloads/start-workloads.js';

export interface ControllersOptions {
  readonly names: readonly ControllerName[];
  readonly resources: Resources;
  /** Writes about which webhooks and policies have a say, as somebody's. */
  readonly operationsAs: (user: UserInfo) => ObjectOperations;
  /** Writes about which every admission plugin has a say, as about a client's. */
  readonly admittedOperationsAs: (user: UserInfo) => ObjectOperations;
  readonly certificates: PreparedCertificates;
  readonly context: () => LifeContext;
  readonly log: Logger;
}

/** Resolves once each knows the state that was there. All end with `signal`. */
export async function startControllers(options: ControllersOptions, signal: AbortSignal): Promise<void> {
  const { names, resources, operationsAs, context, log } = options;
  const { lookup, typeOf: customType } = resources;
  const clientWith = (operations: ObjectOperations): ServerClient =>
    createServerClient({ operations, lookup, context, customType });
  const parts: Omit<ControllerParts, 'client'> = {
    registries: () => resources.served(),
    registryOf: (resource) => resources.registry(resource),
    resourceOf: resources.resourceOf,
    context,
    clock: systemClock,
    signal,
    log,
  };
  const start = starters(options);
  await Promise.all(
    names.map((name) =>
      name === 'workloads'
        ? startWorkloads({
            ...parts,
            clientAs: (user) => clientWith(options.admittedOperationsAs(user)),
            operations: resources.operations,
            nameSuffix,
          })
        : start[name]({ ...parts, client: clientWith(operationsAs(accountOf(name))) }),
    ),
  );
}

/**
 * The user that webhooks and policies see for a controller: kube-apiserver's controllers are clients with accounts of
 * their own.
 */
function accountOf(controller: SmallController): UserInfo {
  const user = serviceAccountUser({ namespace: 'kube-system', name: ACCOUNTS[controller], uid: '' });
  return { ...user, groups: [...user.groups, AUTHENTICATED_GROUP] };
}

/** Each of these is one controller with one account; the stand-ins of workloads have one each. */
type SmallController = Exclude<ControllerName, 'workloads'>;

const ACCOUNTS: Readonly<Record<SmallController, string>> = {
  namespace: 'namespace-controller',
  garbagecollector: 'generic-garbage-collector',
  serviceaccount: 'service-account-controller',
  'root-ca-configmap': 'root-ca-cert-publisher',
  resourcequota: 'resourcequota-controller',
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
};

function starters({ certificates, log }: ControllersOptions): Readonly<Record<SmallController, StartController>> {
  return {
    namespace: startNamespaceController,
    garbagecollector: startGarbageCollector,
    serviceaccount: startServiceAccountController,
    'root-ca-configmap': async (parts) => {
      const caPem = servingCa(certificates);
      if (caPem === undefined)
        log.warning('The authority of the serving certificate is unknown: no config maps with it');
      else await startRootCaController(parts, caPem);
    },
    resourcequota: startResourceQuotaController,
    'clusterrole-aggregation': startClusterRoleAggregation,
  };
}

/** What clients can verify this server by: the end of its certificate's chain, or the server's own authority. */
function servingCa({ serving, servingCaPem }: PreparedCertificates): string | undefined {
  const chain = decodePem(fs.readFileSync(serving.certFile, 'utf8'))
    .filter(({ type }) => type === 'CERTIFICATE')
    .map(({ bytes }) => new X509Certificate(bytes));
  const last = chain.at(-1);
  if (last === undefined) return undefined;
  // A certificate that signed itself is trusted as it is, though it may sign no other.
  if (last.issuer === last.subject && last.verify(last.publicKey)) return last.toString();
  return servingCaPem !== undefined && last.checkIssued(new X509Certificate(servingCaPem)) ? servingCaPem : undefined;
}

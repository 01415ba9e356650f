// The other servers of the control plane, wired: where this one is reached by them, and what is handed on to them.
import fs from 'node:fs';
import { Peers } from '../../aggregation/peers/peers.js';
import type { ProxiedRequest } from '../../aggregation/proxy.js';
import { identityOf, IDENTITY_NAMESPACE, isServerLease } from '../../bootstrap/identity-lease.js';
import { LEASES } from '../../bootstrap/leader-election/election-step.js';
import { createPresence } from '../../bootstrap/presence.js';
import { systemClock } from '../../lib/async/clock.js';
import { joinHostPort } from '../../lib/go/url-parts.js';
import type { HttpResponse } from '../../lib/http/http.js';
import type { Logger } from '../../lib/telemetry/log.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import type { Options } from '../../options/options.js';
import { HttpClient } from '../../outbound/http-client.js';
import type { Dialers } from './dialers.js';
import type { Health } from '../lifecycle/health.js';
import type { Lifecycle } from '../lifecycle/lifecycle.js';
import type { PostStartHook } from '../lifecycle/post-start-hooks.js';
import type { Resources } from '../kinds/resources.js';
import { createShortLivedRecords } from '../storage/short-lived-records.js';

export interface PeerParts {
  readonly hostname: string;
  readonly resources: Resources;
  readonly dialers: Dialers;
  readonly health: Health;
  readonly lifecycle: Lifecycle;
  readonly metrics: MetricRegistry;
  readonly servesItself: (info: RequestInfo) => boolean;
  readonly log: Logger;
}

export interface WiredPeers {
  readonly hooks: readonly PostStartHook[];
  /** Keeps the address of this server for the others. */
  readonly presence: PostStartHook;
  /** Undefined: the request is for this server itself. */
  proxy(proxied: ProxiedRequest): Promise<HttpResponse> | undefined;
}

/** The name servers' certificates have for each other, whatever address they are reached at. */
const SERVER_NAME = 'kubernetes.default.svc';
const IDENTITY_LABEL = 'apiserverIdentity';

/** Undefined without the gate: then nobody hands anything on. */
export function peerAddress({ featureGates, misc, generic, secureServing }: Options): string | undefined {
  if (!featureGates.enabled('UnknownVersionInteroperabilityProxy')) return undefined;
  const { peerAdvertiseIp, peerAdvertisePort } = misc;
  if (peerAdvertiseIp !== '' && peerAdvertisePort !== '') return joinHostPort(peerAdvertiseIp, peerAdvertisePort);
  return joinHostPort(generic.advertiseAddress, String(secureServing.securePort));
}

export function buildPeers(options: Options, parts: PeerParts): WiredPeers | undefined {
  const address = peerAddress(options);
  if (address === undefined) return undefined;
  const { resources, lifecycle, health } = parts;
  const { log } = parts;
  const serverId = identityOf(parts.hostname);
  const records = createShortLivedRecords(resources, options.etcd.etcdPrefix, 'peerserverleases');
  const colon = address.lastIndexOf(':');
  const ip = address.slice(0, colon).replace(/^\[|\]$/g, '');
  const ports = [{ name: 'https', protocol: 'TCP', port: Number(address.slice(colon + 1)) }];
  let ending = false;
  const published = createPresence({
    what: 'the address for other servers',
    reconciler: {
      async reconcile() {
        if (ending) return;
        await records.renew(serverId, {
          labels: { [IDENTITY_LABEL]: serverId },
          subsets: [{ addresses: [{ ip }], ports }],
        });
      },
      remove: async () => void (await records.remove(serverId)),
      stop: () => (ending = true),
    },
    isReady: () => health.ready(),
    log,
  });
  const name = 'peer-endpoint-reconciler-controller';
  const presence: PostStartHook = {
    name,
    run(signal) {
      lifecycle.onShutdown(name, () => published.stop());
      return published.start(signal);
    },
  };
  const { peerCaFile } = options.misc;
  if (peerCaFile === '') return { hooks: [], presence, proxy: () => undefined };

  const peers = createPeers(options, parts, {
    serverId,
    async locate(id) {
      const [subset] = (await records.get(id))?.subsets ?? [];
      const [host, port] = [subset?.addresses?.[0]?.ip, subset?.ports?.[0]?.port];
      return host === undefined || port === undefined ? undefined : joinHostPort(host, String(port));
    },
    log,
  });
  const hooks: PostStartHook[] = [
    // What this server has itself is known without a request.
    { name: 'local-discovery-cache-sync', run: () => undefined },
    { name: 'peer-discovery-cache-sync', run: () => undefined },
    { name: 'mixed-version-proxy-handler', run: (signal) => peers.follow(signal) },
  ];
  return { hooks, presence, proxy: (proxied) => peers.proxy(proxied) };
}

function createPeers(
  { misc }: Options,
  { resources, dialers, lifecycle, metrics, servesItself }: PeerParts,
  own: Pick<ConstructorParameters<typeof Peers>[0], 'serverId' | 'locate' | 'log'>,
): Peers {
  const client = new HttpClient({
    dialer: dialers.peers,
    tls: () => ({
      ca: fs.readFileSync(misc.peerCaFile),
      cert: fs.readFileSync(misc.proxyClientCertFile),
      key: fs.readFileSync(misc.proxyClientKeyFile),
      serverName: SERVER_NAME,
    }),
  });
  lifecycle.stopping.addEventListener('abort', () => client.close(), { once: true });
  const rerouted = metrics.counter({
    name: 'apiserver_rerouted_request_total',
    help: 'Requests that were handed on to another API server because this one does not serve what they are for.',
    labels: ['code'],
    stability: 'ALPHA',
  });
  return new Peers({
    ...own,
    leases: resources.store(LEASES),
    isServer: ({ key, labels }) => key.startsWith(`${IDENTITY_NAMESPACE}/`) && isServerLease(labels),
    client,
    servesItself,
    observe: (status) => rerouted.with(String(status)).inc(),
    clock: systemClock,
    random: Math.random,
  });
}

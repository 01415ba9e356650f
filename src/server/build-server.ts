// Wires everything, in the order things need each other. No other file knows all the rooms.
//
//   core → objects → request path → handler     each has what those before it made, and adds its own
import type { Socket } from 'node:net';
import type { FaultInjection } from '../filters/fault-injection.js';
import type { KeyValueStore } from '../kv/kv.js';
import type { Logs } from '../lib/telemetry/log.js';
import type { Options } from '../options/options.js';
import { assemblyMistake } from '../options/startup-checks.js';
import type { SharedSeats } from '../workers/shared-seats.js';
import type { SupervisorLink } from '../workers/supervisor-link.js';
import { serveDebugSocket } from './paths/debug.js';
import { conversionWebhooks } from './outgoing/conversion-webhooks.js';
import { keepHeap } from './lifecycle/keep-heap.js';
import { ensurePortFree, type OpenPort } from './listener/port.js';
import { type RunningServer, startServer } from './server.js';
import { loadServingCertificates } from './listener/serving-certificates.js';
import { servingOptions } from './listener/serving-options.js';
import { StartFailure } from './lifecycle/start-failure.js';
import { addStartHooks } from './start-hooks.js';
import { buildCore } from './build-core.js';
import { buildHandler } from './build-handler.js';
import { buildObjects } from './build-objects.js';
import { buildRequestPath, type RequestPath } from './build-request-path.js';

/** What the flags do not say. */
export interface ServerParts {
  /** Opened already, in place of the embedded one; closed with the server. */
  readonly store?: KeyValueStore;
  /** Where several processes are one server: what this one shares with the others. */
  readonly link?: SupervisorLink | undefined;
  /** Others are served by this process, too: what concerns the process is not this server's. */
  readonly sharesProcess?: boolean;
  /** Faults on demand; a server without them has no filter for them. */
  readonly faults?: FaultInjection;
}

export async function buildServer(options: Options, logs: Logs, given: ServerParts = {}): Promise<RunningServer> {
  const { link } = given;
  const { bindAddress: address, securePort: port, permitPortSharing } = options.secureServing;
  if (link === undefined) await ensurePortFree({ address, port, permitPortSharing });
  const objects = await buildObjects(buildCore(options, logs, link), given);
  const mistake = assemblyMistake(options);
  if (mistake !== undefined) throw new StartFailure(mistake);
  const parts = buildRequestPath(objects);
  const { lifecycle, health, hooks, metrics, certificates, debug, debugFlags: flags } = parts;
  const handler = buildHandler(parts, given.faults);
  const { debugSocketPath: file } = options.features;
  if (file !== '' && link?.isFirst !== false)
    lifecycle.onDrained(await serveDebugSocket({ file, debug, flags, log: logs.for('debug') }));
  addHooks(parts);
  if (given.sharesProcess !== true) keepHeap(lifecycle.stopping);
  return startServer({
    listener: {
      address,
      port,
      certificates: loadServingCertificates({
        ...servingOptions(options, certificates.serving, certificates.clientCaFile),
        reloads: lifecycle.reloads,
        log: logs.for('certificates'),
      }),
      disableHttp2: options.secureServing.disableHttp2Serving,
      http2MaxStreamsPerConnection: options.secureServing.http2MaxStreamsPerConnection,
      permitPortSharing,
      ...(link !== undefined && { open: handedOver(link, { address, port }, parts.seats) }),
      onTlsError: metrics.onTlsError,
      handler,
    },
    lifecycle,
    health,
    hooks,
    logs,
  });
}

/** The supervisor has the port, and closes it. */
const handedOver =
  (link: SupervisorLink, at: Pick<OpenPort, 'address' | 'port'>, seats: SharedSeats | undefined) =>
  (accept: (socket: Socket) => void): OpenPort => {
    link.listen(accept);
    seats?.requestFirst();
    return { ...at, close: () => undefined };
  };

function addHooks(parts: RequestPath): void {
  const { options, lifecycle, registry, dialers, resources, loopback, tracer } = parts;
  addStartHooks(parts.hooks, {
    ...parts,
    metrics: registry,
    converterOf: conversionWebhooks({
      lookup: resources.lookup,
      dialers,
      itself: loopback.client,
      byEndpoints: options.misc.enableAggregatorRouting,
      metrics: registry,
      stopping: lifecycle.stopping,
      trace: tracer?.background,
    }),
  });
}

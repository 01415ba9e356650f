import type { AdmissionChain } from '../../admission/plugin.js';
import type { Authorizer } from '../../authz/authorizer.js';
import type { FeatureGates, KindOptions, LifeContext, Lookup, ObjectOperations } from '../../registry/kind.js';
import type { Converter } from '../wire/convert-bytes.js';
import type { MediaType } from '../wire/media-types.js';
import type { NodeAccess } from './node-access.js';
import type { RestRequest } from './request.js';
import type { RestMetrics } from './metrics.js';
import type { WatchBuffers } from '../wire/watch-buffers.js';

/** What the verbs need beside the resource itself. */
export interface RestServices {
  readonly admission: AdmissionChain;
  readonly authorizer: Authorizer;
  readonly features: FeatureGates;
  readonly kindOptions: KindOptions;
  readonly lookup: Lookup;
  /** For subresources: the checks that a request has passed by then are not repeated. */
  readonly operations: ObjectOperations;
  /** For plugins: writes of the server's own, about which webhooks and policies have a say. */
  readonly ownOperations: ObjectOperations;
  readonly nodes: NodeAccess;
  readonly mediaTypes: readonly MediaType[];
  readonly converter: Converter;
  readonly clock: () => Date;
  readonly random: () => number;
  /** Watches without a timeout last between this and twice this. */
  readonly minWatchSeconds: number;
  readonly watchBuffers: WatchBuffers;
  readonly metrics: RestMetrics;
  readonly maxBodyBytes: number;
  /** Aborts when the server shuts down: open watches end. */
  readonly shutdown: AbortSignal;
}

/** No write goes on for longer, whatever time its client has. */
const WRITE_TIMEOUT_MS = 34_000;

export function lifeContext(
  services: RestServices,
  request: RestRequest,
  namespace: string,
  dryRun: boolean,
): LifeContext {
  return {
    user: request.user,
    namespace,
    now: services.clock,
    features: services.features,
    dryRun,
    deadlineMs: Math.min(request.deadlineMs ?? Infinity, Date.now() + WRITE_TIMEOUT_MS),
    waiting: request.http,
    trace: request.trace,
    options: services.kindOptions,
    lookup: services.lookup,
    warn: (text) => request.warn(text),
    spent: (layer, ms) => request.spent?.(layer, ms),
  };
}

import { TokenBucket } from '../../lib/async/token-bucket.js';
import { aggregateText } from '../../machinery/field-error.js';
import { StatusError } from '../../machinery/status.js';
import type { Event } from '../../schema/generated/core.v1.js';
import { onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

export type LimitType = 'Server' | 'Namespace' | 'User' | 'SourceAndObject';

/** Events of one kind of origin: so many a second, and so many at once. */
export interface EventLimit {
  readonly type: LimitType;
  readonly qps: number;
  readonly burst: number;
  /** Sources cached at once; the least recently used is evicted. */
  readonly cacheSize: number;
}

/** Refuses events that come too fast: one busy component must not fill the store. */
export function eventRateLimit(limits: readonly EventLimit[], nowMs: () => number): AdmissionPlugin {
  const enforcers = limits.map((limit) => enforcer(limit, nowMs));
  return {
    name: 'EventRateLimit',
    handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
    validate: onlyFor('', 'events', (attributes) => {
      if (attributes.context.dryRun) return;
      const reached = enforcers.flatMap((accept) => accept(attributes) ?? []);
      if (reached.length > 0)
        throw new StatusError(429, 'TooManyRequests', `Too many requests: ${aggregateText(reached)}`);
    }),
  };
}

/** Answers what is too much, or nothing. */
function enforcer(
  { type, qps, burst, cacheSize }: EventLimit,
  nowMs: () => number,
): (attributes: AdmissionAttributes) => string | undefined {
  const buckets = new Map<string, TokenBucket>();
  return (attributes) => {
    const key = KEYS[type](attributes);
    const bucket = buckets.get(key) ?? new TokenBucket({ burst, tokens: qps, everyMs: 1000 }, nowMs());
    // Maps keep their order of insertion: what was used last stands last.
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= cacheSize) break;
      buckets.delete(oldest);
    }
    return bucket.tryTake(nowMs()) ? undefined : `limit reached on type ${type} for key ${key}`;
  };
}

const KEYS: Readonly<Record<LimitType, (attributes: AdmissionAttributes) => string>> = {
  Server: () => '',
  Namespace: ({ namespace }) => namespace,
  User: ({ context }) => context.user.name,
  SourceAndObject({ object }) {
    const { source, involvedObject } = object as Event;
    const { kind, namespace, name, uid, apiVersion } = involvedObject;
    return [source?.component, source?.host, kind, namespace, name, uid, apiVersion].join('');
  },
};

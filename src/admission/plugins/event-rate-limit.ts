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
  /** Origins remembered at once; the one that was silent longest is forgotten. */
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
  const buckets = new Map<string, Bucket>();
  return (attributes) => {
    const key = KEYS[type](attributes);
    const bucket = buckets.get(key) ?? new Bucket(qps, burst, nowMs());
    // Maps keep their order of insertion: what was used last stands last.
    buckets.delete(key);
    buckets.set(key, bucket);
    for (const oldest of buckets.keys()) {
      if (buckets.size <= cacheSize) break;
      buckets.delete(oldest);
    }
    return bucket.take(nowMs()) ? undefined : `limit reached on type ${type} for key ${key}`;
  };
}

/** Fills with `qps` tokens a second up to `burst`. */
class Bucket {
  private tokens: number;

  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private filledMs: number,
  ) {
    this.tokens = burst;
  }

  take(nowMs: number): boolean {
    const passedMs = Math.max(0, nowMs - this.filledMs);
    this.tokens = Math.min(this.burst, this.tokens + (passedMs / 1000) * this.qps);
    this.filledMs = nowMs;
    if (this.tokens < 1) return false;
    this.tokens -= 1;
    return true;
  }
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

// Calls to etcd: on a member that answers, repeated where that is safe, failures in the contract's words.
import { KvError } from '../kv.js';
import type { Trace } from '../../tracing/trace.js';
import type { Endpoints } from './endpoints.js';
import { DEADLINE_EXCEEDED, GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';

export const METHODS = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  compact: '/etcdserverpb.KV/Compact',
  watch: '/etcdserverpb.Watch/Watch',
  leaseGrant: '/etcdserverpb.Lease/LeaseGrant',
  leaseTimeToLive: '/etcdserverpb.Lease/LeaseTimeToLive',
  status: '/etcdserverpb.Maintenance/Status',
} as const;

const CALL_TIMEOUT_MS = 10_000;
const ATTEMPTS = 4;
const BETWEEN_ATTEMPTS_MS = 50;

export interface CallOptions {
  /** A read, or anything else that may happen twice. */
  readonly repeatable: boolean;
  readonly timeoutMs?: number | undefined;
  /** On whose behalf. */
  readonly trace?: Trace | undefined;
}

export async function callEtcd(
  endpoints: Endpoints,
  method: string,
  message: Buffer,
  { repeatable, timeoutMs = CALL_TIMEOUT_MS, trace }: CallOptions,
): Promise<Buffer> {
  for (let attempt = 1; ; attempt++) {
    try {
      const chosen = endpoints.member();
      const member = chosen instanceof Promise ? await chosen : chosen;
      // A call moves once: when all members are slow, further retries only add load.
      const movable = repeatable && attempt === 1 && endpoints.several;
      return await member.call({ method, message, timeoutMs, trace, movable });
    } catch (error) {
      if (!(error instanceof GrpcError)) throw error;
      const down = error.status === UNAVAILABLE || (error.status === DEADLINE_EXCEEDED && endpoints.several);
      if (!down || attempt === ATTEMPTS || (error.sent && !repeatable)) throw kvError(error);
      await endpoints.pause(BETWEEN_ATTEMPTS_MS * attempt);
    }
  }
}

/** Maps a gRPC failure to a KvError. Many of etcd's errors differ only in their text. */
export function kvError(error: GrpcError): KvError {
  const { status, message } = error;
  const details = { cause: error };
  if (message.includes('required revision has been compacted')) return new KvError('compacted', message, details);
  if (message.includes('required revision is a future revision'))
    return new KvError('future-revision', message, details);
  if (message.includes('database space exceeded')) return new KvError('disk-full', message, details);
  if (message.includes('request is too large') || message.includes('larger than max')) {
    return new KvError('too-large', message, details);
  }
  if (status === 7 || status === 16) return new KvError('denied', message, details);
  const prefix =
    status === DEADLINE_EXCEEDED || status === UNAVAILABLE ? 'etcd is unavailable' : `etcd answered ${status}`;
  return new KvError('unavailable', `${prefix}: ${message}`, details);
}

export const leaseIsGone = (error: unknown): boolean =>
  error instanceof KvError && error.message.includes('requested lease not found');

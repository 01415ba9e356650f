// A snapshot of what etcd has under a prefix, read in pages of one revision.
import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../lib/async/clock.js';
import { prefixEnd } from '../kv.js';
import type { Snapshot, SnapshotEntry } from '../snapshot.js';
import { callEtcd, METHODS } from './client.js';
import { connectMember, type ConnectOptions } from './connect.js';
import { Endpoints } from './endpoints.js';
import { encodeRange, type EtcdRange } from './messages.js';
import { type EtcdKeyValue, RANGE_RESPONSE } from './messages/kv.js';
import { LEASE_TIME_TO_LIVE_REQUEST, LEASE_TIME_TO_LIVE_RESPONSE } from './messages/lease.js';

const PAGE_KEYS = 500;

export interface EtcdSnapshotOptions extends ConnectOptions {
  readonly servers: readonly string[];
  /** Keys begin with this. */
  readonly prefix: string;
  readonly nowMs: () => number;
}

/** Fails with `compacted` in the middle where somebody compacts the revision meanwhile. */
export async function openEtcdSnapshot(options: EtcdSnapshotOptions): Promise<Snapshot> {
  const { servers, prefix, nowMs } = options;
  const connect = (url: string): ReturnType<typeof connectMember> => connectMember(url, options);
  const endpoints = new Endpoints({ servers, connect, clock: systemClock, pause: delay });
  const reader = new Reader(endpoints, nowMs);
  try {
    const { header, count } = await reader.range({ key: prefix, end: prefixEnd(prefix), countOnly: true });
    const revision = header?.revision ?? 0;
    return {
      revision,
      keys: count,
      pages: () => reader.pages(prefix, revision),
      close: async () => endpoints.close(),
    };
  } catch (error) {
    endpoints.close();
    throw error;
  }
}

class Reader {
  /** When leases end; each is asked for once. */
  readonly #ends = new Map<bigint, number>([[0n, 0]]);

  constructor(
    private readonly endpoints: Endpoints,
    private readonly nowMs: () => number,
  ) {}

  async range(request: EtcdRange): Promise<ReturnType<typeof RANGE_RESPONSE.decode>> {
    return RANGE_RESPONSE.decode(await this.#call(METHODS.range, encodeRange(request)));
  }

  async *pages(prefix: string, revision: number): AsyncGenerator<readonly SnapshotEntry[]> {
    for (let key: string | undefined = prefix; key !== undefined;) {
      const { kvs, more } = await this.range({ key, end: prefixEnd(prefix), limit: PAGE_KEYS, revision });
      const page: SnapshotEntry[] = [];
      for (const kv of kvs) page.push(await this.#entryOf(kv));
      if (page.length > 0) yield page;
      key = more ? `${page.at(-1)?.key}\0` : undefined;
    }
  }

  async #entryOf({
    key: name,
    value,
    modRevision,
    createRevision,
    version,
    lease,
  }: EtcdKeyValue): Promise<SnapshotEntry> {
    const expiresAtMs = await this.#endOf(lease);
    return { key: name.toString(), name, value, modRevision, createRevision, version, expiresAtMs };
  }

  async #endOf(id: bigint): Promise<number> {
    const known = this.#ends.get(id);
    if (known !== undefined) return known;
    const answer = await this.#call(METHODS.leaseTimeToLive, LEASE_TIME_TO_LIVE_REQUEST.encode({ id }));
    // One that is over has ended now: 0 would be never.
    const endMs = this.nowMs() + Math.max(0, LEASE_TIME_TO_LIVE_RESPONSE.decode(answer).ttl) * 1000;
    this.#ends.set(id, endMs);
    return endMs;
  }

  #call(method: string, message: Buffer): Promise<Buffer> {
    return callEtcd(this.endpoints, method, message, { repeatable: true });
  }
}

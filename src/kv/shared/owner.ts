// The process that has the store, for those that share it: carries out their calls, and sends them everything that happens
// (commit-gate.ts says when it may be known).
import type { Duplex } from 'node:stream';
import { type Clock, monotonicClock } from '../../lib/async/clock.js';
import type { EmbeddedStore } from '../embedded/embedded.js';
import { type Change, eventOf } from '../embedded/change.js';
import { futureRevision, type KeyValueStore, KvError } from '../kv.js';
import { carryOut } from './calls.js';
import { CommitGate, type GateMember } from './commit-gate.js';
import { EarlierLeases } from './earlier-leases.js';
import { type FrameReader, FrameStream } from './frames.js';
import { LEASE_MS } from './lease.js';
import { TO_OWNER, TO_REPLICA, writeError, writeEvent, writeOwnEvent } from './messages.js';

/** Of what a replica missed, sent at once. */
const PAGE_BYTES = 1024 * 1024;
/** More is not kept for a replica that hangs. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

export interface StoreOwner {
  /** Nobody has a lease of an earlier owner any more: what is on disk may be known. */
  readonly mayServe: Promise<void>;
  /** A replica has connected. */
  accept(stream: Duplex): void;
  /** Nobody is waited for any more. */
  close(): void;
}

export interface StoreOwnerOptions {
  readonly store: EmbeddedStore;
  /** Processes that may have a lease of an owner before this one. */
  readonly leased?: readonly number[];
  /** Counts from the start of the process. */
  readonly clock?: Clock;
  readonly onError: (error: unknown) => void;
}

export function shareStore({ store, leased = [], clock = monotonicClock, onError }: StoreOwnerOptions): StoreOwner {
  const gate = new CommitGate(clock);
  store.holdCommits(gate);
  const streams = new Set<Duplex>();
  const earlier = new EarlierLeases(leased, clock);
  return {
    mayServe: earlier.over,
    accept(stream) {
      streams.add(stream);
      stream.on('close', () => streams.delete(stream));
      new Replica({ store, gate, earlier, clock, onError, stream });
    },
    close() {
      gate.close();
      for (const stream of streams) stream.destroy();
    },
  };
}

interface ReplicaParts {
  readonly store: EmbeddedStore;
  readonly gate: CommitGate;
  readonly earlier: EarlierLeases;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  readonly stream: Duplex;
}

class Replica implements GateMember {
  acknowledged = 0;
  leaseUntilMs = 0;
  readonly #frames: FrameStream;
  /** The calls of values that are being stored. */
  readonly #writes = new Map<Buffer, number>();
  /** Until it has its first lease. */
  isBehind = true;
  #hasJoined = false;
  /** A request for a lease that waits until events are acknowledged. */
  #renewal: number | undefined;
  #isBroken = false;

  constructor(private readonly parts: ReplicaParts) {
    const { stream, gate } = parts;
    this.#frames = new FrameStream(
      stream,
      (frame) => this.#receive(frame),
      () => undefined,
    );
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') return;
      parts.onError(error);
      this.#isBroken = true;
    });
    // By its end the replica has given up its lease. Where this side ends the stream the lease goes on until it is over.
    stream.on('close', () => (this.#isBroken && !this.isBehind ? parts.clock.after(LEASE_MS, left) : left()));
    const left = (): void => gate.left(this);
  }

  // hot: every commit
  sendEvents(revision: number, changes: readonly Change[]): void {
    this.#frames.send(TO_REPLICA.events, (out) => {
      out.number(revision);
      for (const change of changes) {
        const { next } = change;
        const call = next && this.#writes.get(next.value);
        if (call === undefined) writeEvent(out, eventOf({ ...change, previous: undefined }));
        else writeOwnEvent(out, { call, revision: change.revision, createRevision: next?.createRevision ?? 0 });
      }
    });
    this.#frames.flush();
    // It has been left behind long ago: when it wakes up it begins anew.
    if (this.isBehind && this.parts.stream.writableLength > MAX_UNREAD_BYTES) this.parts.stream.destroy();
  }

  sendRelease(revision: number): void {
    this.#frames.send(TO_REPLICA.release, (out) => {
      out.number(revision);
      out.number(this.parts.store.compactedRevision());
    });
    this.#frames.flush();
  }

  #receive(frame: FrameReader): void {
    switch (frame.type) {
      case TO_OWNER.hello:
        this.parts.earlier.gaveUp(frame.number());
        void this.#join(frame.number()).catch((error: unknown) => this.#failed(error));
        return;
      case TO_OWNER.acknowledge:
        this.acknowledged = frame.number();
        this.parts.gate.acknowledged();
        return this.#renew();
      case TO_OWNER.renew:
        this.#renewal = frame.number();
        return this.#renew();
      case TO_OWNER.call:
        void this.#call(frame.number(), frame);
        return;
    }
  }

  #renew(): void {
    const request = this.#renewal;
    if (request === undefined || !this.#hasJoined || !this.parts.gate.mayRenew(this)) return;
    this.#renewal = undefined;
    this.isBehind = false;
    this.leaseUntilMs = this.parts.clock.now() + LEASE_MS;
    this.#frames.send(TO_REPLICA.grant, (out) => out.number(request));
    this.#frames.flush();
  }

  /** Sends what happened after the revision, page after page, and joins when there is nothing more. */
  async #join(revision: number): Promise<void> {
    const { store, gate, earlier } = this.parts;
    const { mvcc } = store;
    await earlier.over;
    let reached = revision === 0 ? mvcc.revision : revision;
    if (reached > mvcc.revision) throw futureRevision(reached, mvcc.revision);
    while (reached < mvcc.revision) {
      const newest = mvcc.revision;
      const request = { prefix: '', startRevision: reached + 1, endRevision: newest, maxBytes: PAGE_BYTES };
      const { events, upTo } = await (store as Required<Pick<KeyValueStore, 'changes'>>).changes(request);
      this.#frames.send(TO_REPLICA.events, (out) => {
        out.number(upTo);
        for (const event of events) writeEvent(out, event);
      });
      reached = upTo;
    }
    if (this.parts.stream.destroyed) return;
    this.acknowledged = reached;
    this.#hasJoined = true;
    this.#frames.send(TO_REPLICA.welcome, (out) => {
      out.number(reached);
      out.number(store.compactedRevision());
      out.number(store.olderRevision ?? 0);
    });
    gate.join(this);
  }

  #failed(error: unknown): void {
    const isTooOld = error instanceof KvError && ['compacted', 'future-revision'].includes(error.code);
    if (!isTooOld) this.parts.onError(error);
    this.#frames.send(TO_REPLICA.tooOld, (out) => out.number(this.parts.store.compactedRevision()));
  }

  async #call(id: number, frame: FrameReader): Promise<void> {
    let stored: Buffer | undefined;
    const onValue = (value: Buffer): void => {
      stored = value;
      this.#writes.set(value, id);
    };
    try {
      const writeResult = await carryOut({ store: this.parts.store, onValue }, frame);
      this.#frames.send(TO_REPLICA.answer, (out) => {
        out.number(id);
        out.number(1);
        writeResult(out);
      });
    } catch (error) {
      this.#frames.send(TO_REPLICA.answer, (out) => {
        out.number(id);
        out.number(0);
        writeError(out, error);
      });
    } finally {
      if (stored !== undefined) this.#writes.delete(stored);
    }
  }
}

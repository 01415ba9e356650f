// Holds back what was committed until every replica has received it. A commit is on disk before it comes here. Nobody knows of it
// before it is released, in the process that owns the store either: no event is dispatched and no writer answered.
//
//   owner     commit 7 ── events 7 ─▶          ◀─ acknowledge 7 ── release 7: dispatch, answer ─▶
//   replica                        holds 7: consistent reads of      hands 7 to its watches
//                                  what 7 changes wait
//
// A replica that does not acknowledge is left behind when its lease is over (lease.ts): it answers no consistent read from then on,
// until it has a lease again. The grant comes after all events that it has missed to acknowledge.
import type { Clock } from '../../lib/async/clock.js';
import type { Change } from '../embedded/change.js';
import type { CommitHold } from '../embedded/commit-hold.js';
import { LEASE_MS } from './lease.js';

/** A connected replica, as the gate knows it. */
export interface GateMember {
  /** Everything up to this revision has been received. */
  readonly acknowledged: number;
  /** By the owner's clock. */
  readonly leaseUntilMs: number;
  /** Its lease is over, and commits do not wait for it. It is sent everything all the same, so that the next lease finds it complete. */
  isBehind: boolean;
  sendEvents(revision: number, changes: readonly Change[]): void;
  /** Leaves at once. */
  sendRelease(revision: number): void;
}

interface Held {
  readonly revision: number;
  readonly changes: readonly Change[];
  readonly sinceMs: number;
  readonly release: () => void;
}

export class CommitGate implements CommitHold {
  readonly #members = new Set<GateMember>();
  /** In the order of commits. */
  #held: Held[] = [];
  #waiting: { readonly revision: number; readonly resolve: () => void }[] = [];
  #stopTimer: (() => void) | undefined;

  constructor(private readonly clock: Clock) {}

  // hot: every commit
  committed(revision: number, changes: readonly Change[], release: () => void): void {
    if (this.#members.size === 0 && this.#held.length === 0) return release();
    this.#held.push({ revision, changes, sinceMs: this.clock.now(), release });
    if (changes.length > 0) for (const member of this.#members) member.sendEvents(revision, changes);
    this.#releaseAcknowledged();
    this.#watchLeases();
  }

  released(revision: number): Promise<void> | undefined {
    const first = this.#held[0];
    if (first === undefined || revision < first.revision) return undefined;
    return new Promise((resolve) => this.#waiting.push({ revision, resolve }));
  }

  /** From now on commits wait for the member, which is sent what is held back already. It has everything before. */
  join(member: GateMember): void {
    this.#members.add(member);
    for (const { revision, changes } of this.#held) {
      if (changes.length > 0) member.sendEvents(revision, changes);
    }
  }

  /** Whether the member may have a lease: not while it has left something unacknowledged for longer than one lasts. */
  mayRenew({ acknowledged }: GateMember): boolean {
    const [first] = this.#held;
    return first === undefined || acknowledged >= first.revision || this.clock.now() - first.sinceMs < LEASE_MS;
  }

  /** Its process has ended, or has given up its lease. */
  left(member: GateMember): void {
    if (this.#members.delete(member)) this.#releaseAcknowledged();
  }

  acknowledged(): void {
    this.#releaseAcknowledged();
  }

  /** The store closes: nobody is waited for any more. */
  close(): void {
    this.#members.clear();
    this.#releaseAcknowledged();
  }

  #releaseAcknowledged(): void {
    if (this.#held.length === 0) return;
    let upTo = Infinity;
    for (const { acknowledged, isBehind } of this.#members) if (!isBehind) upTo = Math.min(upTo, acknowledged);
    const count = this.#held.findIndex(({ revision, changes }) => revision > upTo && changes.length > 0);
    const released = this.#held.splice(0, count < 0 ? this.#held.length : count);
    const last = released[released.length - 1];
    if (last === undefined) return;
    // Before the writers are answered: what their clients do next finds replicas that know.
    for (const member of this.#members) member.sendRelease(last.revision);
    for (const { release } of released) release();
    const reached = this.#waiting.filter(({ revision }) => revision <= last.revision);
    this.#waiting = this.#waiting.filter(({ revision }) => revision > last.revision);
    for (const { resolve } of reached) resolve();
    if (this.#held.length > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = undefined;
  }

  #watchLeases(): void {
    const [first] = this.#held;
    if (first === undefined || this.#stopTimer !== undefined) return;
    const nowMs = this.clock.now();
    let nextMs = Math.max(first.sinceMs + LEASE_MS, nowMs + 1);
    if (first.sinceMs + LEASE_MS <= nowMs) {
      for (const member of this.#members) {
        if (!member.isBehind && member.acknowledged < first.revision) nextMs = Math.max(nextMs, member.leaseUntilMs);
      }
    }
    this.#stopTimer = this.clock.after(nextMs - nowMs, () => {
      // This process may have been held up itself: what has arrived meanwhile is read first.
      setImmediate(() => {
        this.#stopTimer = undefined;
        this.#leaveBehindSilent();
        this.#watchLeases();
      });
    });
  }

  #leaveBehindSilent(): void {
    const [first] = this.#held;
    const nowMs = this.clock.now();
    if (first === undefined || first.sinceMs + LEASE_MS > nowMs) return;
    for (const member of this.#members) {
      if (member.acknowledged < first.revision && member.leaseUntilMs < nowMs) member.isBehind = true;
    }
    this.#releaseAcknowledged();
  }
}

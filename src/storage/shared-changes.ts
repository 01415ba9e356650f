// The last changes that watches straight from the store received. Each such watch has its own watch of the store and hears of
// every change by itself, so without this each would decode the same value, and encode the same event for its client.
//
//   etcd ─▶ watch 1 ─┐
//   etcd ─▶ watch 2 ─┼─▶ { "7 default/a": Change, "8 default/b": Change }     oldest first, within a few bytes
//   etcd ─▶ watch 3 ─┘
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { KvEvent } from '../kv/kv.js';
import type { Change } from './history.js';

/** Of the values as they are stored; the newest change stays whatever its size. */
const MAX_BYTES = 1024 * 1024;
/** The estimated memory of a change beside its values. */
const CHANGE_BYTES = 400;

interface SharedChange {
  readonly change: MaybePromise<Change>;
  readonly bytes: number;
}

export class SharedChanges {
  readonly #changes = new Map<string, SharedChange>();
  #bytes = 0;

  constructor(private readonly make: (event: KvEvent) => MaybePromise<Change>) {}

  /** In their order; at once where it is one that need not be waited for, as it mostly is. */
  // hot: every event of every watch straight from the store
  of(events: readonly KvEvent[]): MaybePromise<readonly Change[]> {
    const [first] = events;
    if (first === undefined) return [];
    return events.length > 1 ? this.#ofMany(events) : whenReady(this.get(first), (change) => [change]);
  }

  async #ofMany(events: readonly KvEvent[]): Promise<readonly Change[]> {
    const changes: Change[] = [];
    const yielder = new Yielder();
    for (const event of events) {
      await yielder.yieldIfDue();
      changes.push(await this.get(event));
    }
    return changes;
  }

  get(event: KvEvent): MaybePromise<Change> {
    // One transaction of the store may change several keys.
    const id = `${event.revision} ${event.key}`;
    const known = this.#changes.get(id);
    if (known !== undefined) return known.change;
    const change = this.make(event);
    const bytes = CHANGE_BYTES + event.value.length + (event.previous?.value.length ?? 0);
    this.#add(id, { change, bytes });
    // What cannot be read now may be readable for the next watch.
    if (change instanceof Promise) change.catch(() => this.#drop(id));
    return change;
  }

  clear(): void {
    this.#changes.clear();
    this.#bytes = 0;
  }

  #add(id: string, shared: SharedChange): void {
    this.#changes.set(id, shared);
    this.#bytes += shared.bytes;
    for (const oldest of this.#changes.keys()) {
      if (this.#bytes <= MAX_BYTES || oldest === id) return;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#bytes -= this.#changes.get(id)?.bytes ?? 0;
    this.#changes.delete(id);
  }
}

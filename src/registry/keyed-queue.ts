// Updates of one object, one after another. Each begins with what the one before it stored, instead of working on
// what it read and failing because somebody was quicker: of many writers of one object none works in vain.
import type { Clock } from '../lib/async/clock.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { TransientMap } from '../lib/values/transient-map.js';

/**
 * The longest others wait for one update. It may itself wait for a hook, and the hook may write the same object: then
 * the next goes on, and the store decides who was first.
 */
const MAX_HOLD_MS = 20;

/**
 * The longest others wait for an update that has begun to write, or that works on a large object. It ends soon, on a
 * slow disk or a busy server a little later; an update that went on meanwhile would only end in a conflict.
 */
const MAX_EXTENDED_HOLD_MS = 1000;

export interface Hold {
  readonly key: string;
  /** The holder writes, or works on a large object: MAX_EXTENDED_HOLD_MS applies. */
  extended: boolean;
}

interface WaitList {
  holder: Hold;
  readonly waiting: ((hold: Hold) => void)[];
  cancelLimit: (() => void) | undefined;
}

export class KeyedQueue {
  readonly #waitLists = new TransientMap<string, WaitList>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the hold at once when the key is free. */
  acquire(key: string): MaybePromise<Hold> {
    const waitList = this.#waitLists.get(key);
    if (waitList === undefined) {
      const holder = { key, extended: false };
      this.#waitLists.set(key, { holder, waiting: [], cancelLimit: undefined });
      return holder;
    }
    return new Promise((resolve) => {
      waitList.waiting.push(resolve);
      this.#limit(waitList);
    });
  }

  /** After a hold timed out and its holder lost the race: waits in front of everybody else. */
  async reacquire(hold: Hold): Promise<Hold> {
    const waitList = this.#waitLists.get(hold.key);
    if (waitList === undefined) return this.acquire(hold.key);
    if (waitList.holder === hold) return hold;
    return new Promise((resolve) => {
      waitList.waiting.unshift(resolve);
      this.#limit(waitList);
    });
  }

  /** Does nothing for a hold that timed out and was passed on. */
  release(hold: Hold): void {
    const waitList = this.#waitLists.get(hold.key);
    if (waitList?.holder === hold) this.#passOn(waitList);
  }

  #passOn(waitList: WaitList): void {
    waitList.cancelLimit?.();
    waitList.cancelLimit = undefined;
    const { key } = waitList.holder;
    const next = waitList.waiting.shift();
    if (next === undefined) {
      this.#waitLists.delete(key);
      return;
    }
    waitList.holder = { key, extended: false };
    if (waitList.waiting.length > 0) this.#limit(waitList);
    next(waitList.holder);
  }

  /** Counted only while somebody waits. */
  #limit(waitList: WaitList): void {
    waitList.cancelLimit ??= this.#clock.after(MAX_HOLD_MS, () => {
      if (waitList.holder.extended)
        waitList.cancelLimit = this.#clock.after(MAX_EXTENDED_HOLD_MS, () => this.#passOn(waitList));
      else this.#passOn(waitList);
    });
  }
}

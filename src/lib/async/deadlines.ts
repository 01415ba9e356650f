// Deadlines that nearly never come: one timer for all of one length, which looks at the first.
//
//   60 s:  first ⇄ … ⇄ last      in the order they were set, which is the order they come in
//
// A timer of its own would cost a request more than its permission check.

export interface Deadline {
  readonly atMs: number;
  readonly missed: () => void;
  readonly list: DeadlineList;
  /** Neither cleared nor missed. */
  ahead: boolean;
  before: Deadline | undefined;
  after: Deadline | undefined;
}

interface DeadlineList {
  readonly lengthMs: number;
  first: Deadline | undefined;
  last: Deadline | undefined;
  timer: NodeJS.Timeout | undefined;
}

export class Deadlines {
  readonly #lists = new Map<number, DeadlineList>();

  /** Calls `missed` when `lengthMs` have passed since `fromMs`, a time of now or shortly before. */
  // hot: on every write.
  set(fromMs: number, lengthMs: number, missed: () => void): Deadline {
    let list = this.#lists.get(lengthMs);
    if (list === undefined) {
      list = { lengthMs, first: undefined, last: undefined, timer: undefined };
      this.#lists.set(lengthMs, list);
    }
    const deadline: Deadline = {
      atMs: fromMs + lengthMs,
      missed,
      list,
      ahead: true,
      before: list.last,
      after: undefined,
    };
    if (list.last === undefined) list.first = deadline;
    else list.last.after = deadline;
    list.last = deadline;
    list.timer ??= this.#armed(list, lengthMs);
    return deadline;
  }

  clear(deadline: Deadline): void {
    if (!deadline.ahead) return;
    deadline.ahead = false;
    const { list, before, after } = deadline;
    if (before === undefined) list.first = after;
    else before.after = after;
    if (after === undefined) list.last = before;
    else after.before = before;
    // One that outlives the collector's quick rounds must not keep its neighbours, and theirs, from being collected.
    deadline.before = undefined;
    deadline.after = undefined;
  }

  #armed(list: DeadlineList, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(list), ms).unref();
  }

  #look(list: DeadlineList): void {
    const now = Date.now();
    for (let due = list.first; due !== undefined && due.atMs <= now; due = list.first) {
      this.clear(due);
      due.missed();
    }
    // Clients choose the lengths: a length that nobody waits for is dropped.
    if (list.first === undefined) this.#lists.delete(list.lengthMs);
    else list.timer = this.#armed(list, list.first.atMs - now);
  }
}

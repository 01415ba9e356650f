// Keeps N worker processes running as one server: starts them, hands each connection to one of them, replaces those that end,
// and leads all of them through one shutdown.
//
//   port ─▶ Supervisor ─ connection ─▶ worker 0    also: start-up work of the cluster, controllers, the embedded store
//                      ─ connection ─▶ worker 1
//
// Worker 0 starts first: it makes the files and opens the store that the others use.
import type { Socket } from 'node:net';
import { withTimeout } from '../lib/async/with-timeout.js';
import type { Channel } from './channel.js';
import { leastLoaded, WorkerLoad } from './placement.js';
import type { RestartBudget } from './restart-budget.js';

export interface WorkerAnswer {
  readonly index: number;
  readonly content: unknown;
}

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface WorkerProcess {
  readonly pid: number;
  readonly channel: Channel;
  readonly exited: Promise<Exit>;
  kill(): void;
}

export interface SupervisorOptions {
  readonly count: number;
  /** `earlier`: the process numbers of the others. */
  readonly start: (index: number, earlier: readonly number[]) => WorkerProcess;
  readonly budget: RestartBudget;
  readonly nowMs: () => number;
  /** Calls back again and again, until the answer is called. */
  readonly every: (ms: number, callback: () => void) => () => void;
  readonly after: (ms: number, callback: () => void) => void;
  readonly onReplaced: (worker: WorkerEnd) => void;
  /** A worker did not come up while others serve, by a configuration file that is invalid for example. It is started again after this time. */
  readonly onNotStarted: (worker: WorkerEnd, retryMs: number) => void;
  /** A worker has not answered for so long that it is killed. */
  readonly onHung: (worker: { readonly index: number; readonly pid: number }) => void;
}

export interface WorkerEnd extends Exit {
  readonly index: number;
  readonly pid: number;
}

/** Workers ended before the server was up, or too often: it cannot go on. */
export class WorkersFailed extends Error {
  constructor(
    readonly last: WorkerEnd,
    /** The worker has said why, as a server of one process does. */
    readonly atStart: boolean,
  ) {
    super(
      atStart
        ? `worker process ${last.index} ${exitText(last)} before the server had started`
        : `worker processes keep ending: the last, ${last.index}, ${exitText(last)} soon after its start`,
    );
  }
}

export const exitText = ({ code, signal }: Exit): string =>
  signal === null ? `exited with code ${code}` : `was ended by ${signal}`;

/** `listening`: it takes connections. `started`: its caches are filled, too. */
type WorkerState = 'starting' | 'listening' | 'started';

interface Worker {
  readonly index: number;
  readonly process: WorkerProcess;
  readonly startedMs: number;
  state: WorkerState;
  /** Its connections are for it, and not reported closed. */
  readonly load: WorkerLoad;
  readonly waiting: Socket[];
  /** On its way, one at a time; it stays open here until the worker has it: else it goes to another. */
  handingOver: Socket | undefined;
  /** Looks at it since it answered last. */
  unanswered: number;
  isKilled: boolean;
  /** The phase of the shutdown that it waits for, and how it is let in. */
  waitsFor: { readonly phase: string; enter(): void } | undefined;
}

/** The last: it has answered everything and would close its stores. Worker 0 enters when it is alone. */
const CLOSING = 'closing';

/** What hangs is not waited for. */
const ANSWER_MS = 2_000;
/** Workers are looked at once in this time. */
const LOOK_EVERY_MS = 1_000;
/** Looks without an answer, after which a worker is hung. Counted, not timed: a machine that was held up holds up this process, too. */
const MAX_UNANSWERED = 15;
/** Until it has started: it loads the program in one piece and fills its caches, for which a busy machine gives it little time. */
const MAX_UNANSWERED_AT_START = 60;
/** A worker that does not come up is started again after the first time, then after twice that, up to the last. */
const RETRY_START_MS = 1_000;
const MAX_RETRY_START_MS = 30_000;
/** Of connections that wait while every worker is being replaced. */
const MAX_UNPLACED = 4096;

export class Supervisor {
  /** By their numbers, in the order in which they were started. */
  readonly #workers = new Map<number, Worker>();
  readonly #topics = new Map<string, (content: unknown, worker: number) => unknown>();
  /** For how long those wait that did not come up, by their numbers, until they have listened once. */
  readonly #retryMs = new Map<number, number>();
  /** Connections that no worker was there for. */
  #unplaced: Socket[] = [];
  #last = 0;
  #everStarted = false;
  #isEnding = false;
  #onPhase: (phase: string) => void = () => undefined;
  readonly #started: { readonly promise: Promise<void>; resolve(): void };
  readonly #failed: { readonly promise: Promise<never>; reject(error: Error): void };
  readonly #ended: { readonly promise: Promise<void>; resolve(): void };
  readonly #listening: { readonly promise: Promise<void>; resolve(): void };

  constructor(private readonly options: SupervisorOptions) {
    this.#started = deferred();
    this.#ended = deferred();
    this.#listening = deferred();
    this.#failed = deferred<never>();
    this.#failed.promise.catch(() => undefined);
  }

  /** The worker processes at work, in the order of their numbers. */
  get workers(): readonly { readonly index: number; readonly pid: number; readonly channel: Channel }[] {
    return [...this.#workers.values()]
      .sort((a, b) => a.index - b.index)
      .map(({ index, process: { pid, channel } }) => ({ index, pid, channel }));
  }

  /** Channels of the workers that take connections, the oldest first. */
  get serving(): readonly Channel[] {
    return [...this.#workers.values()]
      .filter(({ state }) => state !== 'starting')
      .map(({ process }) => process.channel);
  }

  /** Rejects with `WorkersFailed` when the server cannot go on. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** All workers have started. */
  get started(): Promise<void> {
    return this.#started.promise;
  }

  /** Answers questions and notices of every worker, also of those that are started later. */
  handle(topic: string, handler: (content: unknown, worker: number) => unknown): void {
    this.#topics.set(topic, handler);
  }

  /** Resolves when the first worker takes connections. */
  async start(): Promise<void> {
    this.#startWorker(0);
    const stop = this.options.every(LOOK_EVERY_MS, () => this.#lookForHung());
    void this.#ended.promise.then(stop);
    void this.failed.catch(stop);
    await Promise.race([this.#listening.promise, this.failed]);
  }

  /** Hands a connection to the worker with the fewest, or the least to do (placement.ts). */
  accept(socket: Socket): void {
    const worker = this.#leastLoaded();
    if (worker === undefined) {
      socket.on('error', () => undefined);
      if (this.#unplaced.length < MAX_UNPLACED) this.#unplaced.push(socket);
      else socket.destroy();
      return;
    }
    worker.load.add(1, this.options.nowMs());
    this.#last = worker.index;
    worker.waiting.push(socket);
    if (worker.handingOver === undefined) this.#handOverNext(worker);
  }

  /** Asks every worker that takes connections; those that end meanwhile or do not answer in this time are left out. */
  askAll(topic: string, content?: unknown, timeoutMs = ANSWER_MS): Promise<readonly WorkerAnswer[]> {
    const asked = [...this.#workers.values()].filter(({ state }) => state !== 'starting');
    return this.#ask(asked, topic, { content, timeoutMs });
  }

  /** Asks those that have started, but for one. */
  askOthers(than: number, topic: string, content?: unknown): Promise<readonly WorkerAnswer[]> {
    const others = [...this.#workers.values()].filter(({ index, state }) => index !== than && state === 'started');
    return this.#ask(others, topic, { content, timeoutMs: ANSWER_MS });
  }

  async #ask(
    asked: readonly Worker[],
    topic: string,
    { content, timeoutMs }: { readonly content: unknown; readonly timeoutMs: number },
  ): Promise<readonly WorkerAnswer[]> {
    const answers = await Promise.all(
      asked.map(async ({ index, process: { channel } }): Promise<readonly WorkerAnswer[]> => {
        try {
          const answer = channel.ask(topic, content).then((given) => [{ index, content: given }]);
          return await withTimeout(answer, { ms: timeoutMs, onTimeout: () => [] });
        } catch {
          return [];
        }
      }),
    );
    return answers.flat();
  }

  notifyAll(topic: string, content?: unknown): void {
    for (const { process } of this.#workers.values()) process.channel.notify(topic, content);
  }

  /**
   * Ends all in order. Each phase begins when every worker has come to its beginning; `onPhase` is called then. Resolves when
   * all have ended.
   */
  async shutdown(onPhase: (phase: string) => void): Promise<void> {
    this.#onPhase = onPhase;
    this.#isEnding = true;
    this.notifyAll('shutdown');
    this.#advance();
    await this.#ended.promise;
  }

  /** At once. */
  kill(): void {
    this.#isEnding = true;
    for (const { process } of this.#workers.values()) process.kill();
  }

  #startWorker(index: number): void {
    const earlier = this.workers.map(({ pid }) => pid);
    const process = this.options.start(index, earlier);
    const worker: Worker = {
      index,
      process,
      startedMs: this.options.nowMs(),
      state: 'starting',
      load: new WorkerLoad(),
      waiting: [],
      handingOver: undefined,
      unanswered: 0,
      isKilled: false,
      waitsFor: undefined,
    };
    this.#workers.set(index, worker);
    const { channel } = process;
    channel.handle('listening', () => this.#reached(worker, 'listening'));
    channel.handle('started', () => this.#reached(worker, 'started'));
    channel.handle('accepted', () => {
      worker.handingOver?.destroy();
      this.#handOverNext(worker);
    });
    channel.handle('closed', (count) => worker.load.add(-Number(count), this.options.nowMs()));
    channel.handle(
      'phase',
      (phase) =>
        new Promise<void>((resolve) => {
          worker.waitsFor = { phase: String(phase), enter: resolve };
          this.#advance();
        }),
    );
    for (const [topic, handler] of this.#topics) channel.handle(topic, (content) => handler(content, index));
    void process.exited.then((exit) => this.#onExit(worker, exit));
  }

  #handOverNext(worker: Worker): void {
    const socket = worker.waiting.shift();
    worker.handingOver = socket;
    if (socket !== undefined) worker.process.channel.notify('connection', undefined, socket);
  }

  #reached(worker: Worker, state: WorkerState): void {
    worker.state = state;
    this.#retryMs.delete(worker.index);
    this.#listening.resolve();
    for (const socket of this.#unplaced.splice(0)) this.accept(socket);
    if (this.#isEnding) return;
    // The others find what worker 0 makes.
    if (worker.index === 0) {
      for (let index = 1; index < this.options.count; index++) if (!this.#workers.has(index)) this.#startWorker(index);
      if (state === 'started') this.notifyAll('first-started');
    } else if (this.#workers.get(0)?.state === 'started') worker.process.channel.notify('first-started');
    if (this.#everStarted || this.#workers.size < this.options.count) return;
    for (const other of this.#workers.values()) if (other.state !== 'started') return;
    this.#everStarted = true;
    this.#started.resolve();
  }

  /** Also while the server ends: a worker that hangs would keep the others from it. */
  #lookForHung(): void {
    for (const worker of this.#workers.values()) {
      const { index, process, state } = worker;
      if (worker.unanswered++ === 0) {
        void process.channel.ask('ping').then(
          (processorMs) => {
            worker.unanswered = 0;
            // What it does to start says nothing of what it does to serve.
            if (worker.state === 'started') worker.load.report(Number(processorMs), this.options.nowMs());
          },
          () => undefined,
        );
      }
      if (worker.isKilled || worker.unanswered <= (state === 'started' ? MAX_UNANSWERED : MAX_UNANSWERED_AT_START))
        continue;
      worker.isKilled = true;
      this.options.onHung({ index, pid: process.pid });
      process.kill();
    }
  }

  #onExit(worker: Worker, exit: Exit): void {
    const { index } = worker;
    this.#workers.delete(index);
    worker.process.channel.close();
    const { handingOver, waiting } = worker;
    if (handingOver !== undefined) this.accept(handingOver);
    for (const socket of waiting.splice(0)) this.accept(socket);
    if (this.#isEnding) {
      if (this.#workers.size === 0) this.#ended.resolve();
      return this.#advance();
    }
    const end = { index, pid: worker.process.pid, ...exit };
    if (this.#mayRetry(worker, exit)) return this.#retryStart(end);
    if (!this.#everStarted || !this.options.budget.allowsReplacing(worker.startedMs)) {
      return this.#failed.reject(new WorkersFailed(end, !this.#everStarted));
    }
    this.options.onReplaced(end);
    this.#startWorker(index);
  }

  /** It has said why it did not come up, and the others serve meanwhile. */
  #mayRetry({ state }: Worker, { code }: Exit): boolean {
    if (state !== 'starting' || code === null) return false;
    return [...this.#workers.values()].some((other) => other.state === 'started');
  }

  #retryStart(end: WorkerEnd): void {
    const retryMs = this.#retryMs.get(end.index) ?? RETRY_START_MS;
    this.#retryMs.set(end.index, Math.min(retryMs * 2, MAX_RETRY_START_MS));
    this.options.onNotStarted(end, retryMs);
    this.options.after(retryMs, () => {
      if (!this.#isEnding && !this.#workers.has(end.index)) this.#startWorker(end.index);
    });
  }

  /** Workers that have filled their caches come first; until one has, any that listens is good enough. */
  #leastLoaded(): Worker | undefined {
    const { count } = this.options;
    const listening: Worker[] = [];
    // Beginning behind the last one, so that those with as many take turns.
    for (let step = 1; step <= count; step++) {
      const worker = this.#workers.get((this.#last + step) % count);
      if (worker !== undefined && worker.state !== 'starting') listening.push(worker);
    }
    const started = listening.filter(({ state }) => state === 'started');
    return leastLoaded(started.length > 0 ? started : listening);
  }

  /** Lets workers into the next phase of the shutdown when all wait for it. */
  #advance(): void {
    if (!this.#isEnding) return;
    const workers = [...this.#workers.values()];
    const closing = workers.filter(({ waitsFor }) => waitsFor?.phase === CLOSING);
    for (const worker of closing) if (worker.index !== 0 || workers.length === 1) enter(worker);
    const phase = workers[0]?.waitsFor?.phase;
    if (phase === undefined || phase === CLOSING) return;
    if (workers.some(({ waitsFor }) => waitsFor?.phase !== phase)) return;
    this.#onPhase(phase);
    for (const worker of workers) enter(worker);
  }
}

function enter(worker: Worker): void {
  const { waitsFor } = worker;
  worker.waitsFor = undefined;
  waitsFor?.enter();
}

function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onFulfilled, onRejected) => {
    resolve = onFulfilled;
    reject = onRejected;
  });
  return { promise, resolve, reject };
}

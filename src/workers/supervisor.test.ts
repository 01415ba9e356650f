import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { Channel } from './channel.js';
import { RestartBudget } from './restart-budget.js';
import { SupervisorLink } from './supervisor-link.js';
import { ports } from './testing.js';
import { type Exit, Supervisor, type WorkerProcess, WorkersFailed } from './supervisor.js';

interface TestWorker {
  readonly index: number;
  readonly link: SupervisorLink;
  readonly accepted: Socket[];
  readonly exit: (exit: Exit) => void;
  killed: boolean;
  /** What it says that it has used. */
  processorMs: number;
}

function setUp(count: number) {
  let nowMs = 0;
  const workers: TestWorker[] = [];
  const replaced: number[] = [];
  const hung: number[] = [];
  const notStarted: number[] = [];
  const retries: { readonly ms: number; readonly callback: () => void }[] = [];
  let look = (): void => undefined;
  const supervisor = new Supervisor({
    count,
    nowMs: () => nowMs,
    budget: new RestartBudget({ nowMs: () => nowMs }),
    every: (_ms, callback) => {
      look = callback;
      return () => undefined;
    },
    after: (ms, callback) => retries.push({ ms, callback }),
    onNotStarted: ({ index }) => notStarted.push(index),
    onHung: ({ index }) => hung.push(index),
    onReplaced: ({ index }) => replaced.push(index),
    start(index): WorkerProcess {
      const [here, there] = ports();
      let exit: (exit: Exit) => void = () => undefined;
      const exited = new Promise<Exit>((resolve) => (exit = resolve));
      const worker: TestWorker = {
        index,
        link: new SupervisorLink(there, {
          index,
          count,
          earlier: [],
          serverStartedMs: 0,
          processorMs: () => worker.processorMs,
        }),
        accepted: [],
        exit,
        killed: false,
        processorMs: 0,
      };
      workers.push(worker);
      return { pid: 100 + workers.length, channel: new Channel(here), exited, kill: () => (worker.killed = true) };
    },
  });
  const up = async (worker: TestWorker | undefined): Promise<void> => {
    worker?.link.listen((socket) => worker.accepted.push(socket));
    worker?.link.started();
    await settled();
  };
  const startAll = async (): Promise<void> => {
    void supervisor.start();
    for (let i = 0; i < count; i++) await up(workers[i]);
    await supervisor.started;
  };
  const lookOnce = async (): Promise<void> => {
    look();
    await settled();
  };
  return {
    supervisor,
    workers,
    replaced,
    hung,
    notStarted,
    retries,
    lookOnce,
    up,
    startAll,
    pass: (ms: number) => (nowMs += ms),
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class TestSocket {
  readonly listeners: (() => void)[] = [];
  destroyed = false;
  on(event: string, run: () => void): this {
    if (event === 'close') this.listeners.push(run);
    return this;
  }
  destroy(): void {
    this.destroyed = true;
  }
  end(): void {
    for (const run of this.listeners) run();
  }
}
const socket = (): Socket & TestSocket => new TestSocket() as unknown as Socket & TestSocket;

test('worker 0 starts alone; the others start when it listens', async () => {
  const { supervisor, workers, up } = setUp(3);
  const started = supervisor.start();
  assert.deepEqual(
    workers.map(({ index }) => index),
    [0],
  );
  await up(workers[0]);
  await started;
  assert.deepEqual(
    workers.map(({ index }) => index),
    [0, 1, 2],
  );
});

test('a connection goes to the worker with the fewest, and one that waits for nobody to the first that is there', async () => {
  const { supervisor, workers, startAll } = setUp(2);
  const early = socket();
  supervisor.accept(early);
  await startAll();
  assert.deepEqual(workers[0]?.accepted, [early]);
  assert.equal(early.destroyed, true, 'the worker has it now');
  const sockets = Array.from({ length: 5 }, socket);
  for (const each of sockets) supervisor.accept(each);
  await settled();
  assert.deepEqual([workers[0]?.accepted.length, workers[1]?.accepted.length], [3, 3]);
  for (const each of workers[1]?.accepted ?? []) (each as Socket & TestSocket).end();
  await settled();
  for (let i = 0; i < 3; i++) supervisor.accept(socket());
  await settled();
  assert.deepEqual([workers[0]?.accepted.length, workers[1]?.accepted.length], [3, 6]);
});

test('a worker that needs more processor time for as many connections gets fewer', async () => {
  const { supervisor, workers, startAll, lookOnce, pass } = setUp(2);
  await startAll();
  const [first, second] = workers as [TestWorker, TestWorker];
  await lookOnce();
  const sockets = Array.from({ length: 8 }, socket);
  for (const each of sockets) supervisor.accept(each);
  await settled();
  for (let i = 0; i < 10; i++) {
    pass(1_000);
    first.processorMs += 900;
    second.processorMs += 450;
    await lookOnce();
  }
  for (const each of sockets) each.end();
  await settled();
  await settled();
  for (const each of [first, second]) each.accepted.length = 0;
  for (let i = 0; i < 8; i++) supervisor.accept(socket());
  await settled();
  assert.deepEqual([first.accepted.length, second.accepted.length], [2, 6]);
});

test('a worker that ends is replaced, and what it has not taken goes to another', async () => {
  const { supervisor, workers, replaced, startAll, up, pass } = setUp(2);
  await startAll();
  pass(60_000);
  // It reads no messages any more.
  workers[1]?.link.listen(() => undefined);
  const sockets = Array.from({ length: 4 }, socket);
  for (const each of sockets) supervisor.accept(each);
  workers[1]?.exit({ code: null, signal: 'SIGKILL' });
  await settled();
  assert.deepEqual(replaced, [1]);
  assert.equal(workers.length, 3);
  await up(workers[2]);
  supervisor.accept(socket());
  await settled();
  assert.equal(workers[2]?.accepted.length, 1, 'it has the fewest');
});

test('workers that end soon after their start, again and again, are the end of the server', async () => {
  const { supervisor, workers, startAll, up, pass } = setUp(2);
  await startAll();
  for (let i = 0; i < 4; i++) {
    pass(5_000);
    workers.at(-1)?.exit({ code: 2, signal: null });
    await settled();
    await up(workers.at(-1));
  }
  pass(5_000);
  workers.at(-1)?.exit({ code: 2, signal: null });
  await assert.rejects(supervisor.failed, (error) => {
    assert.ok(error instanceof WorkersFailed);
    assert.equal(error.atStart, false);
    assert.match(error.message, /^worker processes keep ending: the last, 1, exited with code 2 soon after its start$/);
    return true;
  });
});

test('a replacement that does not come up is started again later, for as long as others serve', async () => {
  const { workers, replaced, notStarted, retries, startAll, up } = setUp(2);
  await startAll();
  const fail = async (): Promise<void> => {
    workers.at(-1)?.exit({ code: 1, signal: null });
    await settled();
  };
  await fail();
  assert.deepEqual([replaced, notStarted], [[1], []], 'it had started');
  for (let i = 0; i < 8; i++) {
    await fail();
    retries[i]?.callback();
  }
  assert.deepEqual(
    retries.map(({ ms }) => ms),
    [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000],
  );
  assert.equal(workers.length, 11);
  await up(workers.at(-1));
  await fail();
  assert.deepEqual([replaced, notStarted.length], [[1, 1], 8]);
  await fail();
  assert.equal(retries.at(-1)?.ms, 1_000, 'it had come up meanwhile');
});

test('a worker that does not come up at first is started again, too, once worker 0 serves', async () => {
  const { supervisor, workers, notStarted, retries, up } = setUp(2);
  void supervisor.start();
  await up(workers[0]);
  workers[1]?.exit({ code: 1, signal: null });
  await settled();
  assert.deepEqual([notStarted, retries.length], [[1], 1]);
  retries[0]?.callback();
  await up(workers[2]);
  await supervisor.started;
});

test('a replacement that does not come up ends the server where no other is left', async () => {
  const { supervisor, workers, retries, startAll } = setUp(1);
  await startAll();
  for (let i = 0; i < 5; i++) {
    workers.at(-1)?.exit({ code: 1, signal: null });
    await settled();
  }
  assert.equal(retries.length, 0);
  await assert.rejects(supervisor.failed, /worker processes keep ending: the last, 0, exited with code 1/);
});

test('workers that live for a while are replaced for ever', async () => {
  const { workers, replaced, startAll, up, pass } = setUp(2);
  await startAll();
  for (let i = 0; i < 20; i++) {
    pass(10_000);
    workers.at(-1)?.exit({ code: null, signal: 'SIGKILL' });
    await settled();
    await up(workers.at(-1));
  }
  assert.equal(replaced.length, 20);
});

test('a worker that does not answer any more is killed, and one that answers late is not', async () => {
  const { workers, hung, lookOnce, startAll } = setUp(2);
  await startAll();
  const [first, second] = workers as [TestWorker, TestWorker];
  let answer = (): void => undefined;
  first.link.channel.handle('ping', () => new Promise<void>((resolve) => (answer = resolve)));
  second.link.channel.handle('ping', () => new Promise(() => undefined));
  for (let i = 0; i < 12; i++) await lookOnce();
  answer();
  await settled();
  assert.deepEqual(hung, []);
  for (let i = 0; i < 6 && !second.killed; i++) await lookOnce();
  assert.deepEqual([hung, first.killed, second.killed], [[1], false, true]);
});

test('a worker that listens and has not started yet is given as long as one that loads', async () => {
  const { supervisor, workers, hung, lookOnce } = setUp(2);
  void supervisor.start();
  const [first] = workers as [TestWorker];
  first.link.listen(() => undefined);
  first.link.channel.handle('ping', () => new Promise(() => undefined));
  await settled();
  for (let i = 0; i < 60; i++) await lookOnce();
  assert.deepEqual([hung, first.killed], [[], false]);
  for (let i = 0; i < 3; i++) await lookOnce();
  assert.deepEqual([hung, first.killed], [[0], true]);
});

test('all go through the shutdown in step, and worker 0 closes last', async () => {
  const { supervisor, workers, startAll } = setUp(3);
  await startAll();
  const events: string[] = [];
  const ended = supervisor.shutdown((phase) => events.push(phase));
  const shutDown = async ({ link, index, exit }: TestWorker): Promise<void> => {
    await link.shutdown;
    for (const phase of ['draining', 'drained', 'closing'] as const) {
      events.push(`${index} before ${phase}`);
      await link.phase(phase);
    }
    events.push(`${index} ends`);
    exit({ code: 0, signal: null });
  };
  const [first, second, third] = workers as [TestWorker, TestWorker, TestWorker];
  void shutDown(first);
  void shutDown(second);
  await settled();
  assert.deepEqual(events, ['0 before draining', '1 before draining']);
  // It ends in the middle: the others do not wait for it.
  third.exit({ code: null, signal: 'SIGKILL' });
  await ended;
  assert.deepEqual(events.slice(2), [
    'draining',
    '0 before drained',
    '1 before drained',
    'drained',
    '0 before closing',
    '1 before closing',
    '1 ends',
    '0 ends',
  ]);
});

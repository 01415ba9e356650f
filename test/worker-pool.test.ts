// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import v8 from 'node:v8';
import { task } from '../src/lib/async/worker-pool.js';
import { workerConverter, type Conversion, type Converter } from '../src/rest/wire/convert-bytes.js';
import { StatusError } from '../src/machinery/status.js';
import { SingleWorkerPool, type SingleWorkerPoolOptions } from '../src/server/worker/worker-pool.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const file = path.join(process.env['BINNACLE_ROOT'] ?? process.cwd(), 'dist', 'worker.cjs');
const settings = {
  features: [],
  compatibility: { major: 1, minor: 33 },
  kindOptions: { allowPrivileged: false, eventTtlSeconds: 3600 },
};
const converterWith = (options: Partial<SingleWorkerPoolOptions>): Converter =>
  workerConverter(
    new SingleWorkerPool({ file, settings, fromBytes: 0, log: { warning: () => undefined }, ...options }),
  );
const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
const textOf = (converted: object): string => {
  assert.ok('encoded' in converted, JSON.stringify(converted));
  return Buffer.from(converted.encoded as Uint8Array).toString();
};
const conversion = (name: string): Conversion => ({
  what: 'encode',
  encoding: 'yaml',
  pretty: false,
  type: 'io.k8s.api.core.v1.ConfigMap',
  bytes: Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"}}`),
});

test('bodies are converted in a thread, several at a time, and what is wrong with one is reported', async () => {
  const warnings: string[] = [];
  const converter = converterWith({ idleMs: 10, log: { warning: (text) => warnings.push(text) } });
  const [first, second] = await Promise.all([converter.convert(conversion('a')), converter.convert(conversion('b'))]);
  assert.match(textOf(first), /^apiVersion: v1\nkind: ConfigMap\nmetadata:\n {2}name: a\n$/);
  assert.match(textOf(second), /name: b/);
  const unread = await converter.convert({ what: 'read', encoding: 'yaml', strict: true, bytes: Buffer.from('a: [') });
  assert.ok('unreadable' in unread);
  await assert.rejects(
    converter.convert({ what: 'read', encoding: 'protobuf', strict: true, bytes: Buffer.from('a') }),
    /only built-in types/,
  );
  assert.deepEqual(warnings, []);
});

test('a thread that nobody needs ends, and another is started when one does', async () => {
  const converter = converterWith({ idleMs: 10 });
  await converter.convert(conversion('a'));
  await pollUntil(() => threads() === 0);
  assert.match(textOf(await converter.convert(conversion('b'))), /name: b/);
});

test('work that cannot go over fails alone', async () => {
  const worker = new SingleWorkerPool({ file, settings, fromBytes: 0, idleMs: 10, log: { warning: () => undefined } });
  const done = [
    worker.run(task('convert'), conversion('a')),
    worker.run(task('convert'), { what: () => 'a function' }),
  ];
  const [first, second] = await Promise.allSettled([...done, worker.run(task('convert'), conversion('b'))]);
  assert.equal(first?.status, 'fulfilled');
  assert.match(String(second?.status === 'rejected' && second.reason), /DataCloneError/);
  assert.match(textOf(await workerConverter(worker).convert(conversion('c'))), /name: c/);
});

test('where no thread can be started, bodies are converted without', async () => {
  const warnings: string[] = [];
  const missing = path.join(path.dirname(file), 'no-such-file.cjs');
  const converter = converterWith({ file: missing, log: { warning: (text) => warnings.push(text) } });
  assert.match(textOf(await converter.convert(conversion('a'))), /name: a/);
  assert.equal(warnings.length, 1);
});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-worker-'));
after(() => fs.rmSync(folder, { recursive: true, force: true }));

/** The thread's program, whose first thread does something else with a request than to answer it. */
function failingOnce(name: string, instead: string): string {
  const program = path.join(folder, `${name}.cjs`);
  const marker = JSON.stringify(path.join(folder, name));
  fs.writeFileSync(
    program,
    `const fs = require('node:fs');
const { parentPort } = require('node:worker_threads');
if (fs.existsSync(${marker})) require(${JSON.stringify(file)});
else {
  fs.writeFileSync(${marker}, '');
  parentPort.postMessage({ id: 0 });
  parentPort.on('message', () => { ${instead} });
}`,
  );
  return program;
}

const outcome = async (converting: Promise<object>): Promise<string> => {
  try {
    return textOf(await converting);
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return `${error.code} ${error.message}`;
  }
};

const FAILURES = [
  {
    name: 'ends in the middle of work',
    instead: 'process.exit(3);',
    expected: /^500 Internal error occurred: the thread for large objects ended$/,
  },
  {
    name: 'fails in a way that nobody caught',
    instead: `throw new Error('nobody knew');`,
    expected: /^500 Internal error occurred: nobody knew$/,
  },
  {
    name: 'runs out of memory',
    instead: 'const all = []; for (;;) all.push(new Array(1e5).fill(all.length));',
    expected: /^500 Internal error occurred: Worker terminated due to reaching memory limit/,
  },
  {
    name: 'never answers',
    instead: 'for (;;);',
    expected: /^504 Timeout: the worker did not finish in time$/,
  },
] as const;

for (const { name, instead, expected } of FAILURES) {
  test(`a thread that ${name}: the caller gets the error, and queued work runs in another`, async () => {
    // Threads that are started from now on may have so many megabytes.
    v8.setFlagsFromString('--max-old-space-size=100');
    const warnings: string[] = [];
    const converter = converterWith({
      file: failingOnce(name, instead),
      lateMs: name === 'never answers' ? 3_000 : 60_000,
      idleMs: 10,
      log: { warning: (text) => warnings.push(text) },
    });
    const both = await Promise.all([
      outcome(converter.convert(conversion('a'))),
      outcome(converter.convert(conversion('b'))),
    ]);
    assert.match(both[0], expected);
    assert.match(both[1], /name: b/);
    assert.equal(warnings.length, 1);
    assert.match(await outcome(converter.convert(conversion('c'))), /name: c/);
    assert.match(await outcome(converter.convert(conversion('d'))), /name: d/);
    assert.equal(warnings.length, 1);
  });
}

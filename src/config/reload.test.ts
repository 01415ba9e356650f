// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ReloadRequests } from '../lib/files/reload-requests.js';
import { createLogs } from '../lib/telemetry/log.js';
import { yieldToEventLoop } from '../lib/scheduling/yield.js';
import { ConfigError } from './config-error.js';
import { reloadOnChange } from './reload.js';

test('a good change takes effect, a bad one leaves the old and is logged once', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reload-'));
  const file = path.join(folder, 'config');
  fs.writeFileSync(file, 'one');
  // Watching keeps no process alive; a test must be.
  const alive = setInterval(() => undefined, 1000);
  const stop = new AbortController();
  const events: string[] = [];
  const reloads = new ReloadRequests();
  let failures = 0;
  const waiting: (() => void)[] = [];
  const note = (event: string): void => {
    events.push(event);
    waiting.shift()?.();
  };
  const next = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  const logs = createLogs({ verbosity: 0, write: (_, line) => note(/err="(.*?)"/.exec(line)?.[1] ?? line) });
  reloadOnChange({
    what: 'configuration',
    file,
    current: 'one',
    load: (text) => {
      if (text.startsWith('bad')) throw new ConfigError(`${text} is refused`);
      return text;
    },
    apply: (text) => note(`applied ${text}`),
    succeeded: () => undefined,
    failed: () => failures++,
    log: logs.for('reload'),
    stopping: stop.signal,
    pollMs: 20,
    reloads,
  });
  const change = async (text: string): Promise<void> => {
    const seen = next();
    // Replaced in one step: a file that is half written would be tried, too.
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
    await seen;
  };
  await change('two');
  await change('bad');
  await change('three');
  const gone = next();
  fs.rmSync(file);
  await gone;
  for (let look = 0; look < 3; look++) {
    reloads.request();
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal(failures, 2);
  await change('four');
  stop.abort();
  clearInterval(alive);
  const missing = `open ${file}: no such file or directory`;
  assert.deepEqual(events, ['applied two', 'bad is refused', 'applied three', missing, 'applied four']);
  fs.rmSync(folder, { recursive: true });
});

test('what is tried again after a failure is not, once something good is there', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reload-'));
  const file = path.join(folder, 'config');
  fs.writeFileSync(file, 'one');
  const alive = setInterval(() => undefined, 1000);
  const stop = new AbortController();
  const tries: string[] = [];
  let tried: () => void = () => undefined;
  reloadOnChange({
    what: 'configuration',
    file,
    current: 'one',
    load(text) {
      tries.push(text);
      tried();
      if (text === 'bad') throw new ConfigError('refused');
    },
    apply: () => undefined,
    succeeded: () => undefined,
    failed: () => undefined,
    log: createLogs({ verbosity: 0, write: () => undefined }).for('reload'),
    stopping: stop.signal,
    pollMs: 20,
    retryMs: 1000,
  });
  const next = (): Promise<void> => new Promise((resolve) => (tried = resolve));
  const change = async (text: string): Promise<void> => {
    const seen = next();
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
    await seen;
  };
  await change('bad');
  const again = next();
  t.mock.timers.tick(1000);
  await again;
  await change('two');
  await yieldToEventLoop();
  t.mock.timers.tick(1000);
  await yieldToEventLoop();
  await change('three');
  assert.deepEqual(tries, ['bad', 'bad', 'two', 'three']);
  stop.abort();
  clearInterval(alive);
  fs.rmSync(folder, { recursive: true });
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { ConfigError } from './config-error.js';
import { reloadOnChange } from './reload.js';

test('a good change takes effect, a bad one leaves the old and is told once', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'reload-'));
  const file = path.join(folder, 'config');
  fs.writeFileSync(file, 'one');
  // Watching keeps no process alive; a test must be.
  const alive = setInterval(() => undefined, 1000);
  const stop = new AbortController();
  const events: string[] = [];
  const waiting: (() => void)[] = [];
  const note = (event: string): void => {
    events.push(event);
    waiting.shift()?.();
  };
  const next = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));
  reloadOnChange({
    file,
    current: 'one',
    load: (text) => {
      if (text.startsWith('bad')) throw new ConfigError(`${text} is refused`);
      return text;
    },
    apply: (text) => note(`applied ${text}`),
    succeeded: () => undefined,
    failed: (error) => note(error.message),
    stopping: stop.signal,
    pollMs: 20,
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
  stop.abort();
  clearInterval(alive);
  assert.deepEqual(events, ['applied two', 'bad is refused', 'applied three']);
  fs.rmSync(folder, { recursive: true });
});

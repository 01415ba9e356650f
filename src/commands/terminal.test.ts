import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coloured, progress, progressBar } from './terminal.js';

const parts = (isTerminal: boolean, env: Record<string, string> = {}) => {
  const printed: string[] = [];
  const print = (text: string): void => void printed.push(text);
  const columns = isTerminal ? 80 : 0;
  return { printed, env, print, printError: print, columns, showsProgress: isTerminal };
};

test('colours are for terminals, and for those who want them', () => {
  assert.equal(coloured('ready', 'green', parts(true)), '\x1b[32mready\x1b[0m');
  assert.equal(coloured('ready', 'green', parts(true, { NO_COLOR: '' })), '\x1b[32mready\x1b[0m');
  assert.equal(coloured('ready', 'green', parts(true, { NO_COLOR: '1' })), 'ready');
  assert.equal(coloured('ready', 'green', parts(false)), 'ready');
});

test('progress is shown on a terminal alone, and is gone in the end', () => {
  for (const isTerminal of [true, false]) {
    const shown = parts(isTerminal);
    progress('Starting', shown)();
    const bar = progressBar('Migrating', 200, shown);
    for (const done of [0, 1, 2, 200]) bar.at(done);
    bar.clear();
    // A line for each new percent, and no more.
    assert.equal(shown.printed.length, isTerminal ? 6 : 0);
    if (isTerminal) assert.deepEqual([shown.printed[1], shown.printed.at(-1)], ['\r\x1b[K', '\r\x1b[K']);
  }
});

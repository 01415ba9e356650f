// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import zlib from 'node:zlib';
import { type LineBlock, LineBlockBuilder } from './line-block.js';
import { rotatedName, timeInName, tidyOldFiles } from './old-files.js';
import { RotatingFile } from './rotating-file.js';

let folder = '';
beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-audit-'))));
afterEach(() => fs.rmSync(folder, { recursive: true, force: true }));

const NOW = Date.parse('2026-11-15T08:30:00.123Z');
const line = (text: string, bytes = 0): string => `${text.padEnd(bytes, '.')}\n`;
const EMPTY: LineBlock = { bytes: Buffer.alloc(0), ends: [], isPart: false };
function block(...lines: string[]): LineBlock {
  const builder = new LineBlockBuilder();
  for (const text of lines) {
    builder.add(text);
    builder.endLine();
  }
  const [made = EMPTY] = builder.take(lines.length);
  return made;
}
const log = (name = 'audit.log'): RotatingFile =>
  new RotatingFile({ file: path.join(folder, name), maxMegabytes: 1, now: () => NOW, tidy: () => undefined });
const read = (name: string): string[] => fs.readFileSync(path.join(folder, name), 'utf8').split('\n').slice(0, -1);

test('lines stand in the order they came, also those of many writers at once', async () => {
  const file = log('deep/er/audit.log');
  const results = await Promise.all(['a', 'b', 'c'].map((text) => file.write(block(line(text), line(`${text}2`)))));
  await file.close();
  assert.deepEqual(results, [undefined, undefined, undefined]);
  assert.deepEqual(read('deep/er/audit.log'), ['a', 'a2', 'b', 'b2', 'c', 'c2']);
  const modes = ['deep/er', 'deep/er/audit.log'].map((name) => fs.statSync(path.join(folder, name)).mode & 0o777);
  assert.deepEqual(modes, [0o700, 0o600]);
});

test('a line that does not fit begins another file; two within a millisecond keep their own names', async () => {
  const file = log();
  const half = 600 * 1024;
  for (const text of ['a', 'b', 'c']) await file.write(block(line(text, half)));
  await file.close();
  assert.deepEqual(fs.readdirSync(folder).sort(), [
    'audit-2026-11-15T08-30-00.123.log',
    'audit-2026-11-15T08-30-00.124.log',
    'audit.log',
  ]);
  assert.equal(read('audit-2026-11-15T08-30-00.123.log')[0]?.[0], 'a');
  assert.equal(read('audit.log')[0]?.[0], 'c');
});

test('a line longer than a file may be is refused, the others are written', async () => {
  const file = log();
  const failures = await file.write(block(line('a'), line('long', 2 * 1024 * 1024), line('b')));
  await file.close();
  assert.equal(failures?.[0], undefined);
  assert.match(failures?.[1]?.message ?? '', /^write length 2097153 exceeds maximum file size 1048576$/);
  assert.equal(failures?.[2], undefined);
  assert.deepEqual(read('audit.log'), ['a', 'b']);
});

test('a file that cannot be written refuses each line, and says why', async () => {
  const file = new RotatingFile({ file: '/dev/full', maxMegabytes: 1, now: () => NOW, tidy: () => undefined });
  const failures = await file.write(block(line('a'), line('b')));
  await file.close();
  assert.deepEqual(
    failures?.map((error) => (error as NodeJS.ErrnoException).code),
    ['ENOSPC', 'ENOSPC'],
  );
});

test('a file of an earlier start is gone on with', async () => {
  fs.writeFileSync(path.join(folder, 'audit.log'), 'before\n');
  const file = log();
  await file.write(block(line('after')));
  await file.close();
  assert.deepEqual(read('audit.log'), ['before', 'after']);
});

test('old files go by number and by age, others are compressed whole, strangers stay', async () => {
  const days = (n: number): string => path.basename(rotatedName('audit.log', NOW - n * 24 * 3_600_000));
  for (const name of [days(0), days(1), days(2), days(9), 'unrelated.log', 'audit.log']) {
    fs.writeFileSync(path.join(folder, name), `${name}\n`, { mode: 0o600 });
  }
  const errors: unknown[] = [];
  const options = {
    now: () => NOW,
    onError: (error: unknown) => errors.push(error),
    file: path.join(folder, 'audit.log'),
  };
  tidyOldFiles({ ...options, maxBackups: 2, maxAgeDays: 5, compress: true })();
  const wanted = [`${days(1)}.gz`, `${days(0)}.gz`, 'audit.log', 'unrelated.log'];
  while (fs.readdirSync(folder).sort().join() !== wanted.join()) await new Promise(setImmediate);
  assert.deepEqual(errors, []);
  const gzipped = path.join(folder, `${days(0)}.gz`);
  assert.equal(zlib.gunzipSync(fs.readFileSync(gzipped)).toString(), `${days(0)}\n`);
  assert.equal(fs.statSync(gzipped).mode & 0o777, 0o600);
});

test('what follows the last dot of a name stays at its end, also where nothing comes before', () => {
  for (const [file, rotated] of [
    ['/x/audit', 'audit-2026-11-15T08-30-00.123'],
    ['/x/a.b.c', 'a.b-2026-11-15T08-30-00.123.c'],
    ['/x/.hidden', '-2026-11-15T08-30-00.123.hidden'],
    ['/x/trail.', 'trail-2026-11-15T08-30-00.123.'],
  ] as const) {
    assert.equal(rotatedName(file, NOW), `/x/${rotated}`);
    assert.equal(timeInName(file, rotated), NOW);
  }
});

test('only names with a time in them are old files', () => {
  assert.equal(timeInName('/x/audit.log', 'audit-2026-11-15T08-30-00.123.log'), NOW);
  assert.equal(timeInName('/x/audit.log', 'audit-2026-11-15T08-30-00.123.log.gz'), NOW);
  for (const other of [
    'audit.log',
    'audit-now.log',
    'audit-2026-13-15T08-30-00.123.log',
    'other-2026-11-15T08-30-00.123.log',
    'audit-2026-11-15T08-30-00.123.log.gz.partial',
  ]) {
    assert.equal(timeInName('/x/audit.log', other), undefined, other);
  }
});

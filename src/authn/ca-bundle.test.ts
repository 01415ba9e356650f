import { logTo, silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { createCaBundle } from './ca-bundle.js';

const newCa = (name: string): string =>
  execFileSync(
    'openssl',
    `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /CN=${name} -days 2`.split(
      ' ',
    ),
    { stdio: ['ignore', 'pipe', 'ignore'] },
  ).toString();

test('a changed file is read again; a broken one leaves the old certificates in use', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'binnacle-ca-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'ca.pem');
  let nowMs = 0;
  const logs: string[] = [];
  writeFileSync(file, newCa('one'));
  const bundle = createCaBundle({ path: file, nowMs: () => nowMs, log: logTo((line) => logs.push(line)) });
  const names = () => bundle.current().certificates.map((certificate) => certificate.subjectName.commonName);
  assert.deepEqual(names(), ['one']);
  writeFileSync(file, newCa('one') + newCa('two-is-longer'));
  assert.deepEqual(names(), ['one'], 'the file is not looked at on every request');
  nowMs += 2000;
  assert.deepEqual(names(), ['one', 'two-is-longer']);
  writeFileSync(file, 'nothing');
  nowMs += 2000;
  assert.deepEqual(names(), ['one', 'two-is-longer']);
  assert.match(logs.at(-1) ?? '', /^kept the CA bundle in use: /);
  assert.throws(() => createCaBundle({ path: file, nowMs: () => 0, log: silentLog }), /does not contain any valid/);
});

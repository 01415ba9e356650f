import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { asideConverter, type Conversion, type Converter } from '../src/rest/convert-bytes.js';
import { AsideWorker, type AsideWorkerOptions } from '../src/server/aside-worker.js';

const file = path.join(process.env['BINNACLE_ROOT'] ?? process.cwd(), 'dist', 'aside.cjs');
const settings = {
  features: [],
  compatibility: { major: 1, minor: 33 },
  kindOptions: { allowPrivileged: false, eventTtlSeconds: 3600 },
};
const converterWith = (options: Partial<AsideWorkerOptions>): Converter =>
  asideConverter(new AsideWorker({ file, settings, fromBytes: 0, log: { warning: () => undefined }, ...options }));
const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
const printed = (converted: object): string => {
  assert.ok('printed' in converted, JSON.stringify(converted));
  return Buffer.from(converted.printed as Uint8Array).toString();
};
const print = (name: string): Conversion => ({
  what: 'print',
  encoding: 'yaml',
  pretty: false,
  type: 'io.k8s.api.core.v1.ConfigMap',
  bytes: Buffer.from(`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"${name}"}}`),
});

test('bodies are converted in a thread, several at a time, and what is wrong with one is told', async () => {
  const warnings: string[] = [];
  const converter = converterWith({ idleMs: 10, log: { warning: (text) => warnings.push(text) } });
  const [first, second] = await Promise.all([converter.convert(print('a')), converter.convert(print('b'))]);
  assert.match(printed(first), /^apiVersion: v1\nkind: ConfigMap\nmetadata:\n {2}name: a\n$/);
  assert.match(printed(second), /name: b/);
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
  await converter.convert(print('a'));
  for (let i = 0; i < 500 && threads() > 0; i++) await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(threads(), 0);
  assert.match(printed(await converter.convert(print('b'))), /name: b/);
});

test('where no thread can be started, bodies are converted without', async () => {
  const warnings: string[] = [];
  const missing = path.join(path.dirname(file), 'no-such-file.cjs');
  const converter = converterWith({ file: missing, log: { warning: (text) => warnings.push(text) } });
  assert.match(printed(await converter.convert(print('a'))), /name: a/);
  assert.equal(warnings.length, 1);
});

// Benchmarks of the stores, beside etcd on the same disk in the same run.
//
//   node tools/bench-store.mjs [--seconds 3] [--folder DIR] [writes|range|watch|memory ...]
//
// etcd is that of BINNACLE_ETCD or .cache/bin/etcd-3.5; without it only our own figures are shown.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundleSource } from './bundle.mjs';
import { freePort } from './free-port.mjs';

const args = process.argv.slice(2);
const option = (name, fallback) => (args.includes(name) ? args[args.indexOf(name) + 1] : fallback);
const seconds = Number(option('--seconds', 3));
const folder = fs.mkdtempSync(path.join(option('--folder', os.tmpdir()), 'binnacle-bench-'));
const wanted = args.filter((arg) => ['writes', 'range', 'watch', 'memory'].includes(arg));
const wants = (name) => wanted.length === 0 || wanted.includes(name);

const VALUE_BYTES = 2048;
const OBJECTS = 100_000;
const WATCHERS = 1_000;
const alive = setInterval(() => undefined, 1000);

const child = option('--child', '');
if (child === '') await main();
else await measureMemory(child, option('--bundle', ''));
clearInterval(alive);

async function main() {
  const bundle = await bundleSource(
    'src/kv/embedded/embedded.ts',
    'src/kv/etcd/etcd.ts',
    'src/storage/create-store.ts',
  );
  const stores = await import(pathToFileURL(bundle).href);
  const etcd = await startEtcd();
  try {
    const kinds = [['embedded', () => stores.openEmbeddedStore({ folder: path.join(folder, 'embedded') })]];
    if (etcd) kinds.push([etcd.name, async () => stores.openEtcdStore({ servers: [etcd.url] })]);
    if (wants('writes')) await benchWrites(kinds);
    if (wants('range')) await benchRange(kinds);
    if (wants('watch')) await benchWatch(stores);
    if (wants('memory')) await benchMemory(stores, bundle);
  } finally {
    etcd?.stop();
    fs.rmSync(folder, { recursive: true, force: true });
    fs.rmSync(bundle, { force: true });
  }
}

/** The stores alternate, half a second each, so that a busy machine is equally busy for all. */
async function benchWrites(kinds) {
  const value = Buffer.alloc(VALUE_BYTES, 'x');
  const stores = [];
  for (const [name, open] of kinds) stores.push({ name, kv: await open() });
  for (const writers of [1, 16, 128]) {
    const sums = new Map(stores.map(({ name }) => [name, { done: 0, seconds: 0 }]));
    for (let slice = 0; slice < seconds * 2; slice++) {
      for (const { name, kv } of stores) {
        const sum = sums.get(name);
        const began = process.hrtime.bigint();
        const write = async (writer) => {
          for (let n = 0; elapsed(began) < 0.5; n++) {
            await kv.create(`/bench/${writers}-${writer}/${slice}-${n}`, value);
            sum.done++;
          }
        };
        await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
        sum.seconds += elapsed(began);
      }
    }
    for (const [name, sum] of sums)
      report(`durable writes, ${writers} writers`, name, sum.done / sum.seconds, 'writes/s');
  }
  for (const { kv } of stores) await kv.close();
}

async function benchRange(kinds) {
  for (const [name, open] of kinds) {
    const kv = await open();
    const value = Buffer.alloc(VALUE_BYTES, 'x');
    await fill(kv, '/range/', 10_000, () => value);
    const until = Date.now() + seconds * 1000;
    const began = process.hrtime.bigint();
    let bytes = 0;
    while (Date.now() < until) {
      const { kvs } = await kv.range({ start: '/range/', end: '/range0' });
      bytes += kvs.length * VALUE_BYTES;
    }
    report('range of 10,000 × 2 KiB', name, bytes / elapsed(began) / 1e6, 'MB/s');
    await kv.close();
  }
}

async function benchWatch({ openEmbeddedStore, createResourceStore }) {
  const kv = await openEmbeddedStore({ folder: path.join(folder, 'watch') });
  const store = createResourceStore({ kv, options: podOptions() });
  let delivered = 0;
  for (let n = 0; n < WATCHERS; n++) {
    const { signal } = new AbortController();
    const request = { namespace: '', resourceVersion: '', resourceVersionMatch: '', allowBookmarks: true, signal };
    await store.watch(request, (events) => {
      delivered += events.length;
      return true;
    });
  }
  const until = Date.now() + seconds * 1000;
  const began = process.hrtime.bigint();
  const write = async (writer) => {
    for (let n = 0; Date.now() < until; n++) await store.create(`ns/${writer}-${n}`, pod(`${writer}-${n}`));
  };
  await Promise.all(Array.from({ length: 16 }, (_, writer) => write(writer)));
  report(`events to ${WATCHERS} watchers`, 'embedded + cache', delivered / elapsed(began), 'events/s');
  store.close();
  await kv.close();
}

/** In a process of its own: what the cache of many objects takes. */
async function benchMemory({ openEmbeddedStore }, bundle) {
  const data = path.join(folder, 'memory');
  const kv = await openEmbeddedStore({ folder: data });
  await fill(kv, '/registry/pods/ns/', OBJECTS, (n) => Buffer.from(JSON.stringify(pod(String(n)))));
  await kv.close();
  const run = spawn(
    process.execPath,
    ['--expose-gc', import.meta.filename ?? new URL(import.meta.url).pathname, '--child', data, '--bundle', bundle],
    { stdio: 'inherit' },
  );
  await new Promise((resolve) => run.once('exit', resolve));
}

async function measureMemory(data, bundle) {
  const { openEmbeddedStore, createResourceStore } = await import(pathToFileURL(bundle).href);
  const used = async () => {
    // What was looked at weakly is held until the end of the event loop iteration.
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc();
    globalThis.gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    return { used: heapUsed + external, rss };
  };
  const began = process.hrtime.bigint();
  const kv = await openEmbeddedStore({ folder: data });
  report('opening the store', 'embedded', elapsed(began) * 1000, 'ms');
  const before = await used();
  const loading = process.hrtime.bigint();
  const store = createResourceStore({ kv, options: podOptions() });
  const list = await store.list({
    namespace: '',
    resourceVersion: '',
    resourceVersionMatch: '',
    limit: 0,
    continue: '',
  });
  report(`filling the cache with ${list.items.length} objects`, 'embedded + cache', elapsed(loading) * 1000, 'ms');
  const json = list.items.reduce((sum, item) => sum + item.json.length, 0);
  const after = await used();
  const labelled = list.items.filter((item) => item.labels.app === 'web').length;
  const selected = await used();
  const MiB = 1024 * 1024;
  report('JSON', 'embedded + cache', json / MiB, 'MiB');
  report('memory', 'embedded + cache', (after.used - before.used) / MiB, 'MiB');
  report(`memory after a label selector (${labelled})`, 'embedded + cache', (selected.used - before.used) / MiB, 'MiB');
  report('resident, with the mapped file', 'embedded + cache', selected.rss / MiB, 'MiB');
  report('allowed', 'embedded + cache', (json * 1.5) / MiB + 60, 'MiB');
  store.close();
  await kv.close();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function fill(kv, prefix, count, valueOf) {
  let next = 0;
  const write = async () => {
    while (next < count) {
      const n = next++;
      await kv.create(`${prefix}${String(n).padStart(7, '0')}`, valueOf(n));
    }
  };
  await Promise.all(Array.from({ length: 256 }, write));
}

function pod(name) {
  const object = {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name,
      namespace: 'ns',
      uid: `uid-${name}`,
      creationTimestamp: '2024-01-01T00:00:00Z',
      labels: { app: 'web', tier: 'front', 'pod-template-hash': name },
    },
    spec: { nodeName: 'node', filler: '' },
  };
  object.spec.filler = 'x'.repeat(Math.max(0, VALUE_BYTES - JSON.stringify(object).length));
  return object;
}

function podOptions() {
  const encode = (object) => Buffer.from(JSON.stringify(object));
  const decode = (bytes) => JSON.parse(bytes.toString());
  return {
    resource: { group: '', resource: 'pods' },
    prefix: '/registry/pods/',
    namespaced: true,
    codec: { encodeJson: encode, decodeJson: decode, encodeStorage: encode, decodeStorage: decode },
    fieldsOf: (object) => ({ 'spec.nodeName': object.spec.nodeName }),
  };
}

async function startEtcd() {
  const program = process.env.BINNACLE_ETCD ?? path.join('.cache', 'bin', 'etcd-3.5');
  if (!fs.existsSync(program)) return undefined;
  const [port, peerPort] = [await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  const flags = {
    'data-dir': path.join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  };
  const process_ = spawn(
    program,
    Object.entries(flags).map(([name, value]) => `--${name}=${value}`),
    { stdio: 'ignore', env: { ...process.env, ETCD_UNSUPPORTED_ARCH: process.arch } },
  );
  await new Promise((resolve) => setTimeout(resolve, 2000));
  return { name: path.basename(program), url, stop: () => process_.kill('SIGKILL') };
}

function elapsed(began) {
  return Number(process.hrtime.bigint() - began) / 1e9;
}

function report(what, who, figure, unit) {
  console.log(`${what.padEnd(48)} ${who.padEnd(18)} ${figure.toFixed(figure < 100 ? 1 : 0).padStart(12)} ${unit}`);
}

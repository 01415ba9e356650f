// What webhooks cost a write: none, none for its resource, and one of each kind, called in memory and over loopback.
//
// The hook is a process of its own, so that the processor time measured is this side's alone. The bare calls send and
// read the same bytes by Node's own client; what a write with hooks takes beyond two of them is our own time. Both are
// done in many short rounds alternately, and the median of the rounds' differences is shown: what else the machine does
// meets few.
//
//   node tools/bench-hooks.mjs
import { fork } from 'node:child_process';
import crypto from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import { Readable } from 'node:stream';
import { median } from './bench/servers.mjs';
import { loadSource } from './bundle.mjs';

const { testHooks } = await loadSource('src/admission/webhooks/testing.ts');
const { createChain } = await loadSource('src/admission/chain.ts');
const { testAttributes } = await loadSource('src/admission/test-attributes.ts');
const { mustType } = await loadSource('src/schema/catalogue.ts');
const { decodeTree } = await loadSource('src/schema/json/decode.ts');
const { encodeJson } = await loadSource('src/schema/json/encode.ts');
const { deepCopy } = await loadSource('src/schema/deep-copy.ts');
const { HttpClient } = await loadSource('src/outbound/http-client.ts');
const { directDialer } = await loadSource('src/outbound/dialer.ts');
const { generateKeys, issueCertificate, privateKeyPem } = await loadSource('src/lib/x509/issue-certificate.ts');

const WARMING = 2000;
const ROUNDS = 60;
/** Writes in each. */
const ROUND = 50;

const type = mustType('io.k8s.api.core.v1.Pod');
const pod = decodeTree(
  type,
  {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
    spec: { containers: [{ name: 'main', image: 'example.test/web:1', resources: { requests: { cpu: '100m' } } }] },
  },
  { strict: false },
).object;
const served = {
  equivalentsOf: () => [],
  inVersion: (_resource, object) => object,
  text: (_resource, _kind, object) => encodeJson(type, object),
  toStored: (_resource, _kind, tree) => decodeTree(type, tree, { strict: false }).object,
  typeOf: () => type,
  convert: () => undefined,
};
const { answerOf } = await import('./bench-hook-server.mjs');
const write = () => testAttributes({ resource: 'pods', kind: 'Pod', object: deepCopy(pod), namespace: 'default' });
const chainOf = (hooks, client) => {
  const address = new URL('https://hook.test/');
  const clients = { of: ({ url }) => ({ client, url, address, headers: {} }) };
  const parts = { served, newUid: () => crypto.randomUUID(), nowMs: () => Date.now(), ...(client && { clients }) };
  return createChain(['mutating', 'validating'].map((kind) => testHooks(kind, hooks, undefined, parts).plugin));
};
/** Processor time beside the time on the wall: a busy machine stretches only the one. */
const begin = () => ({ startedMs: performance.now(), used: process.cpuUsage() });
const report = (name, count, { startedMs, used }) => {
  const { user, system } = process.cpuUsage(used);
  const each = [((performance.now() - startedMs) * 1000) / count, (user + system) / count];
  const [wall, processor] = each.map((us) => us.toFixed(2).padStart(9));
  console.log(`${name.padEnd(52)} ${wall} µs   ${processor} µs of processor`);
  return each[1];
};

const actOn = (chain) => async () => {
  const attributes = write();
  const admitting = chain.admit(attributes);
  if (admitting) await admitting;
  const validating = chain.validate(attributes);
  if (validating) await validating;
};

async function measure(name, count, hooks, client) {
  const act = actOn(chainOf(hooks, client));
  for (let i = 0; i < count / 5; i++) await act();
  const started = begin();
  for (let i = 0; i < count; i++) await act();
  return report(name, count, started);
}
function baseline(name, count) {
  for (let i = 0; i < count / 5; i++) write();
  const started = begin();
  for (let i = 0; i < count; i++) write();
  report(name, count, started);
}
const bare = createChain([]);
function synchronous(name, count, chain) {
  const attributes = write();
  const act = () => void (chain.admit(attributes), chain.validate(attributes));
  for (let i = 0; i < count / 5; i++) act();
  const started = begin();
  for (let i = 0; i < count; i++) act();
  report(name, count, started);
}

synchronous('no plugin at all', 2_000_000, bare);
synchronous('both plugins, no hooks', 2_000_000, chainOf({}));
const elsewhere = { a: { rules: [{ operations: ['*'], apiGroups: ['apps'], apiVersions: ['*'], resources: ['*'] }] } };
synchronous('both plugins, hooks for other resources', 500_000, chainOf(elsewhere));
baseline('making the write itself', 50_000);

const nowhere = {
  close: () => undefined,
  request: async ({ body }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    rawHeaders: [],
    body: Readable.from([Buffer.from(answerOf(body))]),
  }),
};
await measure('one hook of each kind, answered on the spot', 10_000, { a: {} }, nowhere);

const authority = { subject: { commonName: 'bench' }, keys: generateKeys() };
const keys = generateKeys();
const issue = (publicKey, use) =>
  issueCertificate({
    subject: { commonName: use === 'authority' ? 'bench' : 'hook' },
    publicKey,
    issuer: authority,
    use,
    dnsNames: use === 'server' ? ['hook.test'] : [],
    ipAddresses: [],
    notBeforeMs: Date.now() - 60_000,
    notAfterMs: Date.now() + 3_600_000,
  });
const ca = issue(authority.keys.publicKey, 'authority');
const hook = fork(new URL('./bench-hook-server.mjs', import.meta.url), [], { stdio: 'inherit' });
hook.send({ cert: issue(keys.publicKey, 'server'), key: privateKeyPem(keys.privateKey) });
const [port] = await once(hook, 'message');
const client = new HttpClient({
  dialer: { dial: (_named, signal) => directDialer.dial({ host: '127.0.0.1', port }, signal) },
  tls: () => ({ ca, serverName: 'hook.test' }),
  http2: false,
});
/** What the hooks were sent, to be sent again by the bare calls. */
const sent = [];
const recorded = { close: () => undefined, request: (request) => (sent.push(request.body), client.request(request)) };
await measure('(warming)', 1, { a: {} }, recorded);
const bodies = sent.slice(-2);
const agent = new https.Agent({ keepAlive: true, ca, servername: 'hook.test' });
const headers = { 'content-type': 'application/json', accept: 'application/json, */*', 'accept-encoding': 'gzip' };
const bareCall = (body) =>
  new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) };
    const request = https.request(
      { host: '127.0.0.1', port, path: '/?timeout=10s', method: 'POST', agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk)).on('end', () => resolve(Buffer.concat(chunks)));
      },
    );
    request.on('error', reject).end(body);
  });
const hooked = actOn(chainOf({ a: {} }, client));
const bareTwo = async () => {
  for (const body of bodies) await bareCall(body);
};
/** Processor time of a few in a row. */
const spentUs = async (act) => {
  const { user, system } = process.cpuUsage();
  for (let i = 0; i < ROUND; i++) await act();
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / ROUND;
};
for (let i = 0; i < WARMING; i++) {
  await bareTwo();
  await hooked();
}
const rounds = { bare: [], hooked: [], own: [] };
for (let round = 0; round < ROUNDS; round++) {
  // Alternately, and each as often first.
  const order = round % 2 === 0 ? ['bare', 'hooked'] : ['hooked', 'bare'];
  for (const kind of order) rounds[kind].push(await spentUs(kind === 'bare' ? bareTwo : hooked));
  rounds.own.push(rounds.hooked.at(-1) - rounds.bare.at(-1));
}
const show = (name, us) =>
  console.log(`${name.padEnd(52)} ${''.padStart(12)}   ${us.toFixed(2).padStart(9)} µs of processor`);
show('two bare calls over loopback (TLS, kept connection)', median(rounds.bare));
show('one hook of each kind over loopback', median(rounds.hooked));
const middle = median(rounds.own);
console.log(`of our own, beyond two bare calls: ${middle.toFixed(0)} µs of processor (at most 300)`);
client.close();
agent.destroy();
hook.kill();
if (middle > 300) process.exitCode = 1;

// What webhooks cost a write: none, none for its resource, and one of each kind, asked over nothing and over loopback.
//
//   node tools/bench-hooks.mjs
import crypto from 'node:crypto';
import https from 'node:https';
import { Readable } from 'node:stream';
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
const { generateKeys, issueCertificate, privateKeyPem } = await loadSource('src/lib/issue-certificate.ts');

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
const PATCH = Buffer.from(JSON.stringify([{ op: 'add', path: '/metadata/labels/hooked', value: 'yes' }])).toString(
  'base64',
);
const answerOf = (body) => {
  const uid = /"uid":"([^"]*)"/.exec(body)[1];
  const patch = body.includes('"hooked"') ? {} : { patchType: 'JSONPatch', patch: PATCH };
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: true, ...patch },
  });
};
const write = () => testAttributes({ resource: 'pods', kind: 'Pod', object: deepCopy(pod), namespace: 'default' });
const chainOf = (hooks, client) => {
  const clients = { of: ({ url }) => ({ client, url, headers: {} }) };
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
};

async function measure(name, count, hooks, client) {
  const chain = chainOf(hooks, client);
  const act = async () => {
    const attributes = write();
    const admitting = chain.admit(attributes);
    if (admitting) await admitting;
    const validating = chain.validate(attributes);
    if (validating) await validating;
  };
  for (let i = 0; i < count / 5; i++) await act();
  const started = begin();
  for (let i = 0; i < count; i++) await act();
  report(name, count, started);
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
const hook = https.createServer(
  { cert: issue(keys.publicKey, 'server'), key: privateKeyPem(keys.privateKey) },
  (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.on('end', () => response.setHeader('content-type', 'application/json').end(answerOf(body)));
  },
);
await new Promise((resolve) => hook.listen(0, '127.0.0.1', resolve));
const { port } = hook.address();
const client = new HttpClient({
  dialer: { dial: (_named, signal) => directDialer.dial({ host: '127.0.0.1', port }, signal) },
  tls: () => ({ ca, serverName: 'hook.test' }),
  http2: false,
});
const agent = new https.Agent({ keepAlive: true, ca, servername: 'hook.test' });
const BODY = `{"uid":"u","object":${encodeJson(type, pod)}}`;
const bareCall = () =>
  new Promise((resolve, reject) => {
    const request = https.request(
      { host: '127.0.0.1', port, method: 'POST', agent, headers: { 'content-length': BODY.length } },
      (response) => response.resume().on('end', resolve),
    );
    request.on('error', reject).end(BODY);
  });
for (let i = 0; i < 500; i++) await bareCall();
const started = begin();
for (let i = 0; i < 4000; i++) await bareCall();
report('two bare calls over loopback (TLS, kept connection)', 2000, started);
await measure('one hook of each kind over loopback', 2000, { a: {} }, client);
client.close();
agent.destroy();
hook.closeAllConnections();
hook.close();

// workers: one, it meters the process that it starts
// Objects that a webhook converts are written and patched without keeping others waiting, however large they are,
// and so is whatever the webhook answers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { longestTask } from '../support/longest-task.js';
import { startTestServer, type TestServer } from '../support/server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
/** Of the processor's time, with what a busy machine's cold caches take. In one task these take 0.2 to 2 s. */
const MAX_MS = 150;
const TRIES = 3;
const KEYS = 25_000;
const MERGE = 'application/merge-patch+json';
const at = (version: string): string => `/apis/attack.example/${version}/longs`;

interface ConversionRequest {
  readonly uid: string;
  readonly objects: readonly { readonly metadata: object }[];
  readonly desiredAPIVersion: string;
}

let server: TestServer;
let hooks: https.Server;
/** What the webhook says. */
let answer: (request: ConversionRequest) => string;

const review = (uid: string, convertedObjects: unknown, more: object = {}): string =>
  JSON.stringify({
    kind: 'ConversionReview',
    apiVersion: 'apiextensions.k8s.io/v1',
    response: { uid, result: { status: 'Success' }, convertedObjects, ...more },
  });
const converted =
  (more: (metadata: object) => object = () => ({})) =>
  ({ uid, objects, desiredAPIVersion }: ConversionRequest): string =>
    review(
      uid,
      objects.map((object) => ({ ...object, apiVersion: desiredAPIVersion, ...more(object.metadata) })),
    );

before(async () => {
  server = await startTestServer({ meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs') });
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
  hooks = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') }, (request, reply) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      reply.setHeader('content-type', 'application/json');
      reply.end(answer((JSON.parse(Buffer.concat(pieces).toString()) as { request: ConversionRequest }).request));
    });
  });
  await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
  const { port } = hooks.address() as AddressInfo;
  const clientConfig = { url: `https://127.0.0.1:${port}/convert`, caBundle: pki('ca.crt').toString('base64') };
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema }));
  await server.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'longs.attack.example' },
    spec: {
      group: 'attack.example',
      scope: 'Cluster',
      names: { kind: 'Long', plural: 'longs' },
      versions,
      conversion: { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } },
    },
  });
  await pollUntil(async () => (await server.request('GET', at('v2'))).status === 200);
});

after(async () => {
  hooks.closeAllConnections();
  hooks.close();
  await server.stop();
});

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
const named = (version: string, name: string, spec: object): object => ({
  apiVersion: `attack.example/${version}`,
  kind: 'Long',
  metadata: { name },
  spec,
});

/** What is long is long each time: the thread is started with the first, and a full collection may come in between. */
async function isShort(status: number, send: (round: number) => ReturnType<TestServer['request']>): Promise<void> {
  let longestMs = Infinity;
  for (let round = 0; round < TRIES && longestMs > MAX_MS; round++) {
    await longestTask(server.folder);
    const { status: actual, body } = await send(round);
    longestMs = (await longestTask(server.folder)).longestMs;
    assert.equal(actual, status, body.slice(0, 500));
  }
  assert.ok(longestMs < MAX_MS, `${longestMs} ms`);
}

test('a large object is created and patched in another version without a long task', { timeout: 180_000 }, async () => {
  answer = converted();
  const spec = many(KEYS);
  await isShort(201, (round) => server.request('POST', at('v2'), named('v2', `a${round}`, spec)));
  const patch = (value: string) => server.request('PATCH', `${at('v2')}/a0`, { spec: { k1: value } }, MERGE);
  await isShort(200, (round) => patch(`x${round}`));
  const { body } = await patch('y');
  const { apiVersion, spec: made } = JSON.parse(body) as { apiVersion: string; spec: Record<string, string> };
  assert.deepEqual([apiVersion, made['k1'], Object.keys(made).length], ['attack.example/v2', 'y', KEYS]);
  // Nothing is changed, so that it has to be found out whether what is stored is as it would be stored now.
  await isShort(200, () => patch('y'));
});

const JUNK = 150_000;
const wrongLabels = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`%${i}`, '%']));
const answers: readonly (readonly [what: string, status: number, answer: (request: ConversionRequest) => string])[] = [
  ['that is no JSON', 500, () => `{"kind":"ConversionReview",${'"a":{"b":1},'.repeat(JUNK)}]`],
  ['that is another list', 500, () => `[${'[],'.repeat(JUNK)}[]]`],
  [
    'with unknown members',
    200,
    ({ uid, objects, desiredAPIVersion: apiVersion }) =>
      review(
        uid,
        objects.map((object) => ({ ...object, apiVersion })),
        { junk: many(JUNK) },
      ),
  ],
  [
    'with too many objects',
    500,
    ({ uid }) =>
      review(
        uid,
        Array.from({ length: JUNK }, () => ({})),
      ),
  ],
  ['with an object without a kind', 500, converted(() => ({ kind: undefined, spec: many(JUNK) }))],
  ['with labels that are none', 500, converted((metadata) => ({ metadata: { ...metadata, labels: wrongLabels } }))],
  ['with a long message', 500, ({ uid }) => review(uid, [], { result: { message: 'é'.repeat(JUNK * 10) } })],
];

for (const [what, status, respond] of answers) {
  test(`an answer ${what} makes no long task`, { timeout: 180_000 }, async () => {
    await isShort(status, async () => {
      answer = converted();
      const name = `s${(await longestTask(server.folder)).totalMs}`.replace('.', '-');
      await server.request('POST', at('v1'), named('v1', name, {}));
      answer = respond;
      await longestTask(server.folder);
      return server.request('GET', `${at('v2')}/${name}`);
    });
  });
}

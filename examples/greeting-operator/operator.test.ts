import assert from 'node:assert/strict';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startCluster, type Cluster, type FaultRule, type KubernetesObject, type Snapshot } from 'binnacle/testing';
import { runOperator } from './operator.js';

const GREETINGS = '/apis/example.test/v1/namespaces/default/greetings';
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'sam' };
const SAM = { apiVersion: 'example.test/v1', kind: 'Greeting', name: 'sam' };
const greeting = (name: string) => ({
  apiVersion: SAM.apiVersion,
  kind: SAM.kind,
  metadata: { name: 'sam' },
  spec: { name },
});
const hasText =
  (text: string) => (object: KubernetesObject & { data?: { text?: string }; status?: { text?: string } }) =>
    (object.data ?? object.status)?.text === text;

describe('the operator', () => {
  let cluster: Cluster;
  let clean: Snapshot;
  let operator: { stop(): Promise<void> };

  before(async () => {
    const crd = path.join(path.dirname(fileURLToPath(import.meta.url)), 'greeting-crd.yaml');
    cluster = await startCluster({ manifests: { path: crd } });
    clean = await cluster.snapshot();
  });
  after(() => cluster.stop());

  beforeEach(() => {
    const stopping = new AbortController();
    const ended = runOperator(cluster, stopping.signal);
    operator = {
      stop() {
        stopping.abort();
        return ended;
      },
    };
  });
  afterEach(async () => {
    await operator.stop();
    await cluster.setFaults({});
    await cluster.reset(clean);
  });

  test('makes a ConfigMap and writes the status', async () => {
    await cluster.apply(greeting('Sam'));
    await cluster.waitFor(MAP, hasText('hello, Sam'));
    await cluster.waitFor(SAM, hasText('hello, Sam'));
  });

  test('follows a change', async () => {
    await cluster.apply(greeting('Sam'));
    await cluster.waitFor(MAP, hasText('hello, Sam'));
    await cluster.apply(greeting('Samantha'));
    await cluster.waitFor(MAP, hasText('hello, Samantha'));
  });

  test('its ConfigMap goes with the Greeting', async () => {
    await cluster.apply(greeting('Sam'));
    await cluster.waitFor(SAM, hasText('hello, Sam'));
    await cluster.request('DELETE', `${GREETINGS}/sam`);
    await cluster.waitFor(MAP, 'delete');
  });

  test('the rules of the kind hold', async () => {
    await assert.rejects(cluster.apply(greeting('nobody')), /greet somebody/);
  });

  test('writes the status once when nothing goes wrong', async () => {
    const seen = (await cluster.audit()).length;
    await cluster.apply(greeting('Sam'));
    await cluster.waitFor(SAM, hasText('hello, Sam'));
    await operator.stop();
    const events = (await cluster.audit()).slice(seen);
    const writes = events.filter(({ verb, objectRef }) => verb === 'patch' && objectRef?.['subresource'] === 'status');
    assert.equal(writes.length, 1);
  });

  const storms: Record<string, FaultRule[]> = {
    'conflicts and throttling': [
      { fault: 'error', code: 409, verbs: ['patch'], share: 0.5 },
      { fault: 'error', code: 429, retryAfterSeconds: 0, share: 0.2 },
    ],
    'answers that are lost': [{ fault: 'error', code: 504, after: true, verbs: ['patch'], times: 3 }],
    'watches that are dropped': [{ fault: 'drop-watch', share: 0.7 }],
  };
  for (const [name, rules] of Object.entries(storms)) {
    test(`survives ${name}`, async () => {
      await cluster.setFaults({ seed: 7, rules });
      for (const who of ['Sam', 'Max', 'Kim']) {
        await cluster.apply(greeting(who));
        await cluster.waitFor(SAM, hasText(`hello, ${who}`));
        await cluster.waitFor(MAP, hasText(`hello, ${who}`));
      }
    });
  }
});

// runs: alone (how long requests take is judged)
// The server with a webhook that is slow, down or wrong: its failure policy answers, in time, and nobody else waits.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';
import { startWebhookProcess, type WebhookProcess } from './support/webhook-process.js';

const TIMEOUT_MS = 1500;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-authz-'));
let hook: WebhookProcess;
let server: TestServer;

before(async () => {
  hook = await startWebhookProcess();
  const kubeConfigFile = path.join(folder, 'hook.kubeconfig');
  fs.writeFileSync(
    kubeConfigFile,
    `current-context: c
contexts: [{name: c, context: {cluster: hook, user: ''}}]
clusters: [{name: hook, cluster: {server: "http://127.0.0.1:${hook.port}/authorize"}}]
`,
  );
  const webhook = (failurePolicy: string, condition: string): object => ({
    type: 'Webhook',
    name: failurePolicy.toLowerCase(),
    webhook: {
      timeout: `${TIMEOUT_MS}ms`,
      cacheAuthorizedRequests: false,
      cacheUnauthorizedRequests: false,
      subjectAccessReviewVersion: 'v1',
      matchConditionSubjectAccessReviewVersion: 'v1',
      failurePolicy,
      connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
      matchConditions: [{ expression: `request.?resourceAttributes.namespace.orValue('') == '${condition}'` }],
    },
  });
  const file = path.join(folder, 'authorization.json');
  const authorizers = [webhook('Deny', 'closed'), webhook('NoOpinion', 'open'), { type: 'RBAC', name: 'rbac' }];
  const apiVersion = 'apiserver.config.k8s.io/v1';
  fs.writeFileSync(file, JSON.stringify({ apiVersion, kind: 'AuthorizationConfiguration', authorizers }));
  server = await startTestServer({ authorizationModes: [], flags: [`--authorization-config=${file}`] });
});
after(async () => {
  await server?.stop();
  await hook?.stop();
  fs.rmSync(folder, { recursive: true });
});

interface Verdict {
  readonly allowed: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

async function review(namespace: string, name: string): Promise<Verdict> {
  const { body } = await server.request('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: 'alice', resourceAttributes: { namespace, name, verb: 'get', resource: 'pods', version: 'v1' } },
  });
  return (JSON.parse(body) as { status: Verdict }).status;
}

async function timed<T>(act: Promise<T>): Promise<{ readonly value: T; readonly ms: number }> {
  const startMs = performance.now();
  return { value: await act, ms: performance.now() - startMs };
}

test('a webhook that answers decides', async () => {
  assert.deepEqual(await review('closed', 'yes'), { allowed: true, reason: 'the hook says' });
  assert.deepEqual(await review('open', 'no'), { allowed: false, reason: 'the hook says' });
  assert.deepEqual(await review('elsewhere', 'yes'), { allowed: false });
});

test('slow: the failure policy answers within the timeout, once for identical questions, and others do not wait', async () => {
  const slow = ['closed', 'closed', 'closed', 'open'].map((namespace) => timed(review(namespace, 'slow')));
  const [quick, plain] = await Promise.all([
    timed(review('closed', 'yes')),
    timed(server.request('GET', '/api/v1/namespaces')),
  ]);
  assert.equal(quick.value.allowed, true);
  assert.equal(plain.value.status, 200);
  assert.ok(quick.ms < TIMEOUT_MS && plain.ms < TIMEOUT_MS, `waited ${quick.ms} and ${plain.ms} ms`);
  const [first, second, third, open] = await Promise.all(slow);
  for (const answered of [first, second, third, open]) {
    assert.match(answered?.value.evaluationError ?? '', /^Post ".*timeout=1.5s": context deadline exceeded$/);
    assert.ok((answered?.ms ?? 0) >= TIMEOUT_MS - 50, `answered after ${answered?.ms} ms`);
  }
  assert.equal(first?.value.denied, true);
  assert.equal(open?.value.denied, undefined);
  assert.equal(hook.reviewed.filter((name) => name === 'slow').length, 2);
});

test('an answer that stops half-way is waited for no longer than the timeout', async () => {
  const { value, ms } = await timed(review('closed', 'half'));
  assert.equal(value.denied, true);
  assert.match(value.evaluationError ?? '', /reading response body.*context deadline exceeded/);
  assert.ok(ms >= TIMEOUT_MS - 50 && ms < 2 * TIMEOUT_MS, `answered after ${ms} ms`);
});

test('garbage, a torn connection, an endless answer: errors by the failure policy, and the server goes on', async () => {
  for (const name of ['garbage', 'torn', 'endless']) {
    const closed = await review('closed', name);
    assert.equal(closed.denied, true, name);
    assert.notEqual(closed.evaluationError ?? '', '', name);
    assert.deepEqual((await review('open', name)).denied, undefined, name);
  }
  assert.equal((await review('closed', 'yes')).allowed, true);
});

test('down: refused at once; up again: it decides again', async () => {
  await hook.stop();
  const { value, ms } = await timed(review('closed', 'yes'));
  assert.equal(value.denied, true);
  assert.match(value.evaluationError ?? '', /connect: connection refused$/);
  assert.ok(ms < TIMEOUT_MS);
  hook = await startWebhookProcess(hook.port);
  assert.deepEqual(await review('closed', 'yes'), { allowed: true, reason: 'the hook says' });
});

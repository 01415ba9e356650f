import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WorkerPool, Task } from '../../lib/async/worker-pool.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import { parseReviewResponse, runParseResponse, type ReviewResponse } from './review-response.js';

const CALL = { hook: 'a.test', version: 'v1', uid: 'u', mutating: true } as const;

/** What goes over and comes back is what another thread would see. */
const workers = (minBytes: number): WorkerPool & { done: number } => ({
  minBytes,
  done: 0,
  async run<Work extends object, Answer extends object>(_task: Task<Work, Answer>, work: Work): Promise<Answer> {
    this.done++;
    type Input = Parameters<typeof runParseResponse>[0];
    return structuredClone(runParseResponse(structuredClone(work) as unknown as Input)) as Answer;
  },
});

const answer = (response: object): RestAnswer => {
  const review = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response: { uid: 'u', ...response } };
  return { status: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(review)) };
};
const patched = (operations: unknown): object => ({
  allowed: true,
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});
const plain = ({ denial, patch, ...said }: ReviewResponse): object => ({
  ...said,
  denial: denial && { ...denial.status },
  patch: patch && [patch.json.toString(), patch.operations(), patch.text()],
});

test('an answer comes to the same on a worker thread', async () => {
  const denied = {
    code: 418,
    message: 'no',
    metadata: { resourceVersion: '7' },
    details: { causes: [{ field: 'a' }] },
  };
  for (const answered of [
    answer({ allowed: true, warnings: ['w', 'w', 'x'], auditAnnotations: { a: 'b', 'not/one': '' } }),
    answer({ allowed: false, status: denied, auditAnnotations: { a: 'b' } }),
    answer({ allowed: false, status: { message: 'x'.repeat(100_000), metadata: { resourceVersion: '7' } } }),
    answer({ allowed: false }),
    answer(patched([{ op: 'add', path: '/é', value: 12345678901234567890n.toString() }])),
    answer(patched([])),
    answer(patched({})),
    answer({ ...patched([{ op: 'add' }]), patchType: 'Other' }),
    answer({ allowed: true, uid: 'other' }),
    answer({ allowed: 'yes' }),
    { status: 200, contentType: 'application/json', body: Buffer.from('{"kind":"Sub') },
    { status: 200, contentType: 'application/yaml', body: Buffer.from('kind: AdmissionReview\nresponse: {uid: u}') },
  ]) {
    const there = workers(0);
    const fromThere = plain(await parseReviewResponse(there, CALL, answered));
    assert.deepEqual(fromThere, plain(await parseReviewResponse(undefined, CALL, answered)));
    assert.equal(there.done, 1);
  }
});

test('a short answer is read where it is', async () => {
  const there = workers(100_000);
  await parseReviewResponse(there, CALL, answer({ allowed: true }));
  assert.equal(there.done, 0);
});

test('of very many annotations and warnings only those are parsed that anybody will see', async () => {
  const many = Array.from({ length: 50_000 }, (_, i) => `w${i}`);
  const auditAnnotations = Object.fromEntries(many.map((key) => [key, 'v']));
  const { notes, warnings } = await parseReviewResponse(
    workers(0),
    CALL,
    answer({ allowed: true, auditAnnotations, warnings: [...many, ...many, 'x'.repeat(100_000)] }),
  );
  assert.equal(notes.length, 10_000);
  assert.ok(warnings.length > 10_000 && warnings.length < 20_000, String(warnings.length));
  const long = await parseReviewResponse(
    undefined,
    CALL,
    answer({ allowed: true, warnings: ['x'.repeat(100_000), 'y'] }),
  );
  assert.deepEqual(
    long.warnings.map(({ length }) => length),
    [16_384, 1],
  );
});

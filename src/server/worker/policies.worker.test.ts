import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compiler } from '../../admission/validating-policy/testing.js';
import type { PolicyInput, PolicySource } from '../../cel/compiled-policy.js';
import { type WorkerPool, RunInline, type Task } from '../../lib/async/worker-pool.js';
import { lazyFields } from '../../schema/lazy-fields.js';
import { policiesWithWorkerFallback, WorkerPolicies } from './policies.worker.js';

const SOURCE: PolicySource = {
  owner: 'validating-policy',
  params: true,
  variables: [{ name: 'names', expression: 'object.items.map(x, x.name)' }],
  matchConditions: ["object.items.all(x, x.name != '')"],
  validations: [
    "variables.names.all(n, n.startsWith('n'))",
    'object.items.all(x, x.size > 0)',
    'object.items.all(x, x.missing > 0)',
    "object.items.exists(x, authorizer.group('').resource('pods').name(x.name).check('get').allowed())",
    'object == oldObject',
    'wrong(',
  ],
  messages: ['', "object.items.map(x, x.name).join(',')", '', '', '', ''],
  auditAnnotations: ['object.items.exists(x, x.size > 100) ? "large" : "small"'],
  mutations: [
    { use: 'json-patch', expression: "object.items.map(x, JSONPatch{op: 'test', path: x.name, value: x.size})" },
  ],
};

const items = Array.from({ length: 300 }, (_, i) => ({
  name: `n${i}`,
  size: i === 7 ? 9007199254740993n : i,
  ratio: 1.5,
}));
const input = (questions: string[]): PolicyInput => ({
  object: { items },
  oldObject: { items: structuredClone(items) },
  request: { operation: 'CREATE' },
  namespaceObject: null,
  params: { metadata: { name: 'p' } },
  authorizer: {
    user: { name: 'someone', groups: [] },
    resource: { apiGroup: '', resource: 'configmaps', subresource: '', namespace: 'default', name: 'c' },
    ask(question) {
      questions.push(String(question.name));
      return { allowed: question.name === 'n3', reason: 'because' };
    },
  },
});

/** What goes over and comes back is what another thread would see. */
function workersWith(world: WorkerPolicies): WorkerPool & { done: number } {
  return {
    minBytes: 0,
    done: 0,
    async run<Work extends object, Answer extends object>(_task: Task<Work, Answer>, work: Work): Promise<Answer> {
      this.done++;
      type Run = Parameters<WorkerPolicies['run']>[0];
      return structuredClone(world.run(structuredClone(work) as unknown as Run)) as unknown as Answer;
    },
  };
}

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, member: unknown) => (name === 'seconds' ? 0 : member)));

test('long expressions have the same result on a worker thread, and put no more questions to the authorizer', async () => {
  const here = compiler.compilePolicy(SOURCE);
  const workers = workersWith(new WorkerPolicies(compiler));
  let nowMs = 0;
  const withFallback = policiesWithWorkerFallback(compiler, workers, () => (nowMs += 100)).compilePolicy(SOURCE);
  for (const group of ['matchConditions', 'validations', 'messages', 'auditAnnotations'] as const) {
    const [questions, workerQuestions]: [string[], string[]] = [[], []];
    const expected = here.evaluate(group, input(questions), 10_000_000);
    workers.done = 0;
    const there = await withFallback.evaluate(group, input(workerQuestions), 10_000_000);
    assert.deepEqual(withoutTimes(there), withoutTimes(expected));
    assert.deepEqual(workerQuestions, questions);
    assert.ok(workers.done > 0, group);
  }
  assert.deepEqual(
    await withFallback.evaluate('validations', input([]), 10),
    here.evaluate('validations', input([]), 10),
  );
  assert.deepEqual(await withFallback.mutate(0, input([]), 10_000_000), here.mutate(0, input([]), 10_000_000));
});

test('expressions that are done soon are done here, and so are all where there is no other thread', async () => {
  const workers = workersWith(new WorkerPolicies(compiler));
  const soon = policiesWithWorkerFallback(compiler, workers, () => 0).compilePolicy(SOURCE);
  const expected = compiler.compilePolicy(SOURCE).evaluate('validations', input([]), 10_000_000);
  assert.deepEqual(withoutTimes(soon.evaluate('validations', input([]), 10_000_000)), withoutTimes(expected));
  assert.equal(workers.done, 0);
  const none: WorkerPool = { minBytes: 0, run: () => Promise.reject(new RunInline('none')) };
  let nowMs = 0;
  const late = policiesWithWorkerFallback(compiler, none, () => (nowMs += 100)).compilePolicy(SOURCE);
  assert.deepEqual(withoutTimes(await late.evaluate('validations', input([]), 10_000_000)), withoutTimes(expected));
});

test('large sets of owned fields are read on a worker thread, and only where an expression looks into them', async () => {
  const source: PolicySource = {
    ...SOURCE,
    variables: [],
    matchConditions: ["object.metadata.name == 'a'", 'object.metadata.managedFields[0].manager == "m"'],
    validations: ['object.metadata == oldObject.metadata', "has(object.metadata.managedFields[0].fieldsV1['f:k0'])"],
    messages: ['', ''],
    auditAnnotations: [],
    mutations: [{ use: 'apply-configuration', expression: 'Object{metadata: object.metadata}' }],
  };
  const fields = (count: number): string =>
    JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`f:k${i}`, {}])));
  const object = (count: number): object => ({
    metadata: { name: 'a', managedFields: [{ manager: 'm', fieldsV1: lazyFields(fields(count)) }] },
  });
  const seen = { ...input([]), object: object(10_000), oldObject: object(10_000) };
  const here = compiler.compilePolicy(source);
  const workers = workersWith(new WorkerPolicies(compiler));
  const withFallback = policiesWithWorkerFallback(compiler, workers, () => 0).compilePolicy(source);
  const matched = await withFallback.evaluate('matchConditions', seen, 10_000_000);
  assert.deepEqual(withoutTimes(matched), withoutTimes(here.evaluate('matchConditions', seen, 10_000_000)));
  assert.equal(workers.done, 0);
  const validated = await withFallback.evaluate('validations', seen, 10_000_000);
  assert.deepEqual(withoutTimes(validated), withoutTimes(here.evaluate('validations', seen, 10_000_000)));
  assert.equal(workers.done, 1);
  assert.deepEqual(await withFallback.mutate(0, seen, 10_000_000), here.mutate(0, seen, 10_000_000));
  const small = { ...seen, object: object(10), oldObject: object(10) };
  assert.deepEqual(
    withoutTimes(await withFallback.evaluate('validations', small, 10_000_000)),
    withoutTimes(here.evaluate('validations', small, 10_000_000)),
  );
});

test('policies that are soon done, but many, are evaluated cooperatively', async () => {
  let nowMs = 0;
  const never: WorkerPool = { minBytes: 0, run: () => Promise.reject(new RunInline()) };
  const policy = policiesWithWorkerFallback(
    {
      compilePolicy: () => ({
        evaluate: () => {
          nowMs += 3;
          return { results: [], costLeft: 0 } as never;
        },
        mutate: () => ({}) as never,
      }),
    },
    never,
    () => nowMs,
  ).compilePolicy(SOURCE);
  const evaluate = (): unknown => policy.evaluate('validations', input([]), 1);
  assert.ok(!(evaluate() instanceof Promise));
  assert.ok(!(evaluate() instanceof Promise));
  const third = evaluate();
  assert.ok(third instanceof Promise);
  assert.equal(nowMs, 6);
  await third;
  assert.equal(nowMs, 9);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { KubeObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { createChain } from '../chain.js';
import { refusal, testAttributes, type TestWrite } from '../test-attributes.js';
import { hookMetrics } from '../webhooks/metrics.js';
import { testHooks } from '../webhooks/testing.js';
import type { HookParts } from '../webhooks/validate.js';

const write = (more: Partial<TestWrite> & { data?: object } = {}): TestWrite => ({
  resource: 'configmaps',
  kind: 'ConfigMap',
  object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a' }, data: { own: '1' }, ...more.data },
  ...more,
});
const add = (path: string, value: unknown): object => ({ op: 'add', path, value });

describe('validating webhooks', () => {
  it('without any, nothing is waited for', () => {
    const { plugin } = testHooks('validating', {});
    assert.equal(createChain([plugin]).validate(testAttributes(write())), undefined);
  });

  it('only those whose rules, selectors and conditions hold are called', async () => {
    const other = [{ operations: ['CREATE'], apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'] }];
    const { plugin, calls } = testHooks('validating', {
      all: {},
      other: { rules: other },
      labelled: { objectSelector: { matchLabels: { x: 'y' } } },
      named: { matchConditions: [{ name: 'n', expression: "object.metadata.name == 'a'" }] },
      unnamed: { matchConditions: [{ name: 'n', expression: "object.metadata.name != 'a'" }] },
      none: { rules: [] },
    });
    assert.equal(await refusal(plugin, testAttributes(write())), undefined);
    assert.deepEqual(calls.map(({ hook }) => hook).sort(), ['all', 'named']);
  });

  it('a condition that fails ends it: no later one is looked at', async () => {
    const evaluated: string[] = [];
    const conditionMetrics = {
      evaluated: ({ name }: { name: string }) => evaluated.push(name),
      excluded: () => undefined,
    };
    const fails = { matchConditions: [{ name: 'n', expression: 'object.spec.none == 1' }] };
    const spared = { matchConditions: [{ name: 'n', expression: "object.metadata.name != 'a'" }] };
    const { plugin, calls } = testHooks('validating', { first: spared, second: fails, third: spared }, undefined, {
      conditionMetrics: conditionMetrics as unknown as HookParts['conditionMetrics'] & object,
    });
    assert.match((await refusal(plugin, testAttributes(write()))) ?? '', /is forbidden: .*no such key: spec$/);
    assert.deepEqual([evaluated, calls], [['first', 'second'], []]);
  });

  it('are not to blame where others cannot convert for them, nor does their failure policy let that pass', async () => {
    const metrics = new MetricRegistry();
    const recorder = hookMetrics(metrics);
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v2'], resources: ['configmaps'] }];
    const other = { group: '', version: 'v2', resource: 'configmaps' };
    const refused = async (kind: 'mutating' | 'validating'): Promise<string | undefined> => {
      const served = {
        equivalentsOf: () => [{ resource: other, kind: { group: '', version: 'v2', kind: 'ConfigMap' } }],
        convert: async () => Promise.reject(new StatusError(500, '', 'not today')),
      } as unknown as HookParts['served'];
      const more = { served, recorder };
      const { plugin } = testHooks(kind, { a: { rules, failurePolicy: 'Ignore' } }, undefined, more);
      return refusal(plugin, testAttributes(write()));
    };
    assert.equal(await refused('validating'), 'Internal error occurred: not today');
    assert.equal(await refused('mutating'), 'Internal error occurred: Internal error occurred: not today');
    assert.doesNotMatch(metrics.text(), /name="a"/);
  });

  it('never about webhooks and policies themselves', async () => {
    const { plugin, calls } = testHooks('validating', { all: {} }, () => ({ allowed: false }));
    const resource = 'validatingwebhookconfigurations.admissionregistration.k8s.io';
    assert.equal(await refusal(plugin, testAttributes(write({ resource }))), undefined);
    assert.deepEqual(calls, []);
  });

  it('say why they refuse, warn and annotate', async () => {
    const { plugin } = testHooks('validating', { 'a.test': {} }, () => ({
      allowed: false,
      status: { code: 418, message: 'no tea' },
      warnings: ['think again'],
      auditAnnotations: { seen: 'yes', 'not/one': 'x' },
    }));
    const attributes = testAttributes(write());
    assert.equal(await refusal(plugin, attributes), 'admission webhook "a.test" denied the request: no tea');
    assert.deepEqual(attributes.warnings, ['think again']);
    assert.deepEqual(attributes.annotations, { 'a.test/seen': 'yes' });
  });

  it('that annotate with very much do not block the event loop', async () => {
    const auditAnnotations = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`k${i}`, '']));
    const { plugin } = testHooks('validating', { 'a.test': {} }, () => ({ auditAnnotations }));
    const attributes = testAttributes(write());
    let yields = 0;
    const counting = setInterval(() => yields++, 1);
    assert.equal(await refusal(plugin, attributes), undefined);
    clearInterval(counting);
    assert.equal(Object.keys(attributes.annotations).length, 10_000);
    assert.ok(yields > 1, String(yields));
  });

  it('that fail stop the request, or are passed over', async () => {
    for (const [policy, expected] of [
      [
        'Fail',
        'Internal error occurred: failed calling webhook "h": failed to call webhook: Post "https://hook.test/h?timeout=10s": EOF',
      ],
      ['Ignore', undefined],
    ] as const) {
      const { plugin } = testHooks('validating', { h: { failurePolicy: policy } }, () => ({ error: 'EOF' }));
      const attributes = testAttributes(write());
      assert.equal(await refusal(plugin, attributes), expected);
      const key = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_0';
      assert.deepEqual(attributes.annotations, policy === 'Ignore' ? { [key]: 'h' } : {});
    }
  });

  it('whose response is invalid fail, each with its own error', async () => {
    const say = async (raw: string): Promise<string> => {
      const said = await refusal(testHooks('validating', { h: {} }, () => ({ raw })).plugin, testAttributes(write()));
      return said?.replace('Internal error occurred: failed calling webhook "h": ', '') ?? 'nothing';
    };
    assert.equal(
      await say(''),
      'failed to call webhook: 0-length response with status code: 200 and content type: application/json',
    );
    assert.equal(await say('null'), 'received invalid webhook response: webhook response was absent');
    assert.match(await say('{"kind":"Pod","apiVersion":"v1"}'), /^failed to call webhook: no kind "Pod" is registered/);
    assert.match(await say('{"response":{"uid":"u"}}'), /expected response.uid="uid-1", got "u"$/);
    assert.match(
      await say('{"response":{"uid":"uid-1"}}'),
      /expected webhook response of admission.k8s.io\/v1, Kind=AdmissionReview, got \/, Kind=$/,
    );
    assert.match(await say('{"response":{'), /json parse error: unexpected end of JSON input$/);
  });

  it('with side effects are no part of a dry run', async () => {
    const { plugin, calls } = testHooks('validating', { h: { sideEffects: 'Some', failurePolicy: 'Ignore' } });
    const said = await refusal(plugin, testAttributes(write({ dryRun: true })));
    assert.equal(said, 'admission webhook "h" does not support dry run');
    assert.equal(calls.length, 0);
  });

  it('have no longer than the request, and say so', async () => {
    const { plugin } = testHooks('validating', { h: { failurePolicy: 'Ignore' } }, () => ({ error: 'EOF' }), {
      nowMs: () => 5000,
    });
    const attributes = testAttributes(write());
    const context = { ...attributes.context, deadlineMs: 4000 };
    assert.equal(
      await refusal(plugin, { ...attributes, context }),
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    );
  });

  it('are called no longer than somebody waits, whatever their failure policy', async () => {
    for (const failurePolicy of ['Ignore', 'Fail'] as const) {
      const gone = new AbortController();
      const { plugin } = testHooks('validating', { h: { failurePolicy } }, () => {
        gone.abort();
        return { error: 'context canceled' };
      });
      const attributes = testAttributes(write());
      const context = { ...attributes.context, waiting: gone };
      assert.equal(
        await refusal(plugin, { ...attributes, context }),
        'Timeout: request did not complete within requested timeout - context canceled',
      );
    }
  });
});

describe('mutating webhooks', () => {
  it('see what those before them changed', async () => {
    const { plugin, calls } = testHooks('mutating', { a: {}, b: {} }, ({ hook }) => ({
      patch: [add(`/data/${hook}`, 'x')],
    }));
    const attributes = testAttributes(write());
    assert.equal(await refusal(plugin, attributes), undefined);
    assert.deepEqual((attributes.object as { data?: object }).data, { own: '1', a: 'x', b: 'x' });
    const seen = calls.map(({ request }) => Object.keys((request.object as { data?: object }).data ?? {}));
    assert.deepEqual(seen, [['own'], ['own', 'a']]);
  });

  it('are called once more after a later change, if they want to be', async () => {
    const { plugin, calls } = testHooks(
      'mutating',
      { a: { reinvocationPolicy: 'IfNeeded' }, never: {}, b: { reinvocationPolicy: 'IfNeeded' } },
      ({ hook }) => (hook === 'b' ? { patch: [add('/data/b', String(calls.length))] } : {}),
    );
    await createChain([plugin]).admit(testAttributes(write()));
    assert.deepEqual(
      calls.map(({ hook }) => hook),
      ['a', 'never', 'b', 'a'],
    );
  });

  it('have changed with the first patch the times at which fields were changed, and with later ones what they say', async () => {
    const notes = async (kind: string, old?: object): Promise<string[]> => {
      const { plugin, calls } = testHooks(
        'mutating',
        { idle: { reinvocationPolicy: 'IfNeeded' }, a: {}, b: {} },
        ({ hook }) => (hook === 'idle' ? {} : { patch: [add('/data/own', '1')] }),
      );
      const own = write();
      const { metadata } = own.object as KubeObject;
      const object = { ...own.object, metadata: { ...metadata, managedFields: [{ manager: 'm' }] } };
      const attributes = testAttributes({ ...own, kind, object, ...(old && { old: { ...object, ...old } }) });
      await createChain([plugin]).admit(attributes);
      const said = Object.entries(attributes.annotations).filter(([key]) => key.startsWith('mutation.'));
      const mutated = said.map(([, value]) => String((JSON.parse(value) as { mutated: boolean }).mutated));
      return [...mutated, ...calls.slice(3).map(({ hook }) => `${hook} again`)];
    };
    assert.deepEqual(await notes('ConfigMap'), ['false', 'true', 'false', 'false', 'idle again']);
    assert.deepEqual(await notes('ConfigMap', { data: {} }), ['false', 'true', 'false', 'false', 'idle again']);
    assert.deepEqual(await notes('ConfigMap', {}), ['false', 'false', 'false']);
    assert.deepEqual(await notes('Custom'), ['false', 'false', 'false']);
  });

  it('cannot change what is deleted', async () => {
    const { plugin } = testHooks('mutating', { h: {} }, () => ({ patch: [add('/data', {})] }));
    const { object, ...rest } = write();
    const said = await refusal(plugin, testAttributes({ ...rest, operation: 'DELETE', old: object ?? {} }));
    assert.match(said ?? '', /"h" attempted to modify the object, which is not supported for this operation$/);
  });

  it('answer for a patch that does not apply, whatever their failure policy', async () => {
    const registry = new MetricRegistry();
    const { plugin } = testHooks(
      'mutating',
      { h: { failurePolicy: 'Ignore' } },
      () => ({ patch: [{ op: 'remove', path: '/no' }] }),
      {
        recorder: hookMetrics(registry),
      },
    );
    const said = await refusal(plugin, testAttributes(write()));
    assert.match(said ?? '', /^Internal error occurred: error in remove for path: '\/no'/);
    assert.match(registry.text(), /rejection_count\{.*error_type="apiserver_internal_error".*rejection_code="0".*\} 1/);
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import type { KubeObject } from '../../machinery/object.js';
import { typeOf } from '../../schema/catalogue.js';
import { type Patch, type PatchKind, preparePatch } from './patch-kinds.js';

const kind = { group: '', version: 'v1', kind: 'Service' };

function prepared(patchKind: PatchKind, patch: unknown, statusOnly = false): Patch {
  const type = typeOf('', 'v1', 'Service');
  assert.ok(type);
  return preparePatch(patchKind, () => ({ value: patch, duplicates: [] }), {
    target: {
      type,
      kind,
      defaults: () => undefined,
      *note() {
        yield;
      },
      resetFields: [],
      statusOnly,
    },
    options: { fieldValidation: 'Strict' } as never,
    manager: 'm',
    subresource: '',
    now: new Date(0),
    warn: () => undefined,
  });
}

function prepare(patchKind: PatchKind, patch: unknown): () => KubeObject {
  const { steps } = prepared(patchKind, patch);
  // Members in memory stand in any order.
  const live = {
    spec: { type: 'ClusterIP', selector: { b: '1', a: '2' }, ports: [{ port: 1, name: 'p' }] },
    metadata: { labels: { z: '1' }, name: 's' },
    apiVersion: 'v1',
    kind: 'Service',
  } as unknown as KubeObject;
  return () => runSync(steps(live));
}

function refusal(patchKind: PatchKind, patch: unknown): string {
  try {
    prepare(patchKind, patch)();
  } catch (error) {
    const [, shown = ''] = /Invalid value: ("(?:[^"\\]|\\.)*")/.exec((error as Error).message) ?? [];
    return JSON.parse(shown) as string;
  }
  throw new Error('the patch was accepted');
}

test('a refused merge patch is shown with sorted members where it reached, and the type’s order elsewhere', () => {
  const shown = refusal('merge', { spec: { type: 7, externalIPs: [{ y: 1, x: null, b: 2 }] } });
  const [head = '', spec = ''] = shown.split(',"spec":');
  assert.equal(head, '{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","labels":{"z":"1"}}');
  assert.match(spec, /^\{"externalIPs":\[\{"b":2,"y":1\}\],"ports":\[\{"name":"p","port":1,"targetPort":0\}\],/);
  assert.match(spec, /"selector":\{"a":"2","b":"1"\},"type":7\}/);
});

test('a refused JSON patch shows what it put in as it was sent', () => {
  const shown = refusal('json', [{ op: 'add', path: '/spec/type', value: { z: 1, a: 2 } }]);
  assert.match(shown, /^\{"apiVersion":"v1","kind":"Service",/);
  assert.match(shown, /"type":\{"z":1,"a":2\}\}/);
});

test('a refused patch reports what is wrong first in the text that it shows', () => {
  const labels = { op: 'add', path: '/metadata/labels', value: 5 };
  const annotations = { op: 'add', path: '/metadata/annotations', value: { a: [] } };
  const wrong = /cannot unmarshal array into Go struct field ObjectMeta.metadata.annotations of type string$/;
  assert.throws(prepare('json', [labels, annotations]), { message: wrong });
  assert.throws(prepare('merge', { metadata: { labels: 5, annotations: { a: [] } } }), { message: wrong });
});

test('a patched object must be of a version that can be read', () => {
  const refused = (apiVersion: string): (() => KubeObject) => prepare('merge', { apiVersion });
  assert.throws(refused('a/b/c'), { message: /unexpected GroupVersion string: a\/b\/c$/ });
  assert.throws(refused('apps/'), { message: /Object 'apiVersion' is missing in '\{"apiVersion":"apps\/",.*'$/ });
  assert.equal(refused('/v1')().apiVersion, 'v1');
  // Nothing is found of what has no version.
  assert.throws(refused('/'), { message: /unknown field "metadata", unknown field "spec"/ });
});

test('a JSON patch does not build deeper than a body may be', () => {
  const levels = 300;
  const nested = JSON.parse(`${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`) as unknown;
  const operations = Array.from({ length: 100 }, (_, i) => ({
    op: 'add',
    path: `/spec${'/a'.repeat(i * levels)}/a`,
    value: nested,
  }));
  for (const count of [2, 100]) {
    assert.throws(prepare('json', operations.slice(0, count)), { code: 422, message: /rejected our request/ });
  }
});

test('a patch is known to make something large by its copies, each of which may double what there is', () => {
  const copy = { op: 'copy', from: '/metadata', path: '/metadata/x' };
  const growth = (operations: unknown): number => prepared('json', operations).growth;
  assert.equal(growth([{ op: 'add', path: '/a', value: 1 }]), 1);
  assert.equal(growth([copy, null, copy, copy]), 8);
  assert.ok(Number.isFinite(growth(Array.from({ length: 9_000 }, () => copy))));
  assert.equal(prepared('merge', { op: 'copy' }).growth, 1);
});

test('what a strategic patch has that is unknown is reported by name', () => {
  const patch = { spec: { zeta: 1, alpha: { b: 1 }, type: 'ClusterIP' }, metadata: { odd: 1 } };
  assert.throws(
    prepare('strategic', patch),
    /unknown field "metadata\.odd", unknown field "spec\.alpha", unknown field "spec\.zeta"/,
  );
});

test('of what a patch leaves without a version nothing is read, whatever it is', () => {
  const patch = [
    { op: 'remove', path: '/apiVersion' },
    { op: 'replace', path: '/spec/ports', value: 7 },
  ];
  assert.throws(prepare('json', patch), /unknown field "metadata", unknown field "spec"/);
});

test('a patch of the status copies no more than it reaches; what else it reaches is read as ever', () => {
  const live = {
    kind: 'Service',
    apiVersion: 'v1',
    metadata: { name: 's' },
    spec: { ports: [{ port: 1, targetPort: 1 }], selector: { a: '1' } },
    status: { loadBalancer: {} },
  };
  const patched = (patch: unknown, statusOnly: boolean): typeof live =>
    runSync(prepared('strategic', patch, statusOnly).steps(live as unknown as KubeObject)) as never;
  const status = { loadBalancer: { ingress: [{ ip: '10.0.0.1' }] } };
  const ofStatus = patched({ status }, true);
  assert.equal(ofStatus.spec, live.spec);
  assert.notEqual(ofStatus.metadata, live.metadata);
  assert.deepEqual(ofStatus, patched({ status }, false));
  const ofBoth = patched({ status, spec: { selector: { b: '2' } } }, true);
  assert.deepEqual(ofBoth.spec.selector, { a: '1', b: '2' });
  assert.throws(() => patched({ status, spec: { selector: 'none' } }, true), /selector/);
  assert.deepEqual(live.spec.selector, { a: '1' });
});

import assert from 'node:assert/strict';
import test from 'node:test';
import { catalogueKinds, catalogueTypeNames, metaType, mustType, typeByName, typeOf } from './catalogue.js';
import { equalByType } from './deep-equal.js';
import { encodeJson } from './json/encode.js';
import type { Type } from './type.js';

test('a kind is found by group and version, a type by its OpenAPI name', () => {
  assert.equal(typeOf('', 'v1', 'Pod'), typeByName('io.k8s.api.core.v1.Pod'));
  assert.equal(typeOf('apps', 'v1', 'Deployment')?.name, 'io.k8s.api.apps.v1.Deployment');
  assert.equal(typeOf('', 'v1', 'PodSpec'), undefined);
  assert.equal(typeOf('apps', 'v9', 'Deployment'), undefined);
  assert.equal(typeByName('io.k8s.api.core.v1.Nope'), undefined);
});

test('options belong to every group version, and versions share the types they took over', () => {
  assert.equal(typeOf('batch', 'v1', 'DeleteOptions'), metaType('DeleteOptions'));
  assert.equal(typeOf('', 'v1', 'Status'), metaType('Status'));
  assert.equal(typeOf('batch', 'v1', 'Status'), undefined);
  assert.equal(typeOf('meta.k8s.io', 'v1beta1', 'Table'), metaType('Table'));
  assert.ok(catalogueKinds().get('v1')?.includes('Pod'));
});

test('every type resolves, and every type it refers to', () => {
  const seen = new Set<Type>();
  const visit = (type: Type): void => {
    if (seen.has(type)) return;
    seen.add(type);
    if (type.kind === 'list') visit(type.element);
    else if (type.kind === 'map') visit(type.value);
    else if (type.kind === 'struct') for (const field of type.fields) visit(field.type);
  };
  for (const name of catalogueTypeNames()) visit(mustType(name));
  assert.ok(seen.size > 900);
});

test('inlined members are flattened in print order and know the message they lie in', () => {
  const volume = mustType('io.k8s.api.core.v1.Volume');
  assert.equal(volume.fields[0]?.json, 'name');
  assert.equal(volume.byJson.get('hostPath')?.embedded, true);
  assert.deepEqual(
    volume.embedded?.map(({ proto, type }) => [proto, type.name]),
    [[2, 'io.k8s.api.core.v1.VolumeSource']],
  );
});

test('a field carries its list type, merge key, default and enum', () => {
  const ports = mustType('io.k8s.api.core.v1.Container').byJson.get('ports');
  assert.deepEqual(ports?.listMapKeys, ['containerPort', 'protocol']);
  assert.deepEqual(ports.patchStrategy, ['merge']);
  assert.equal(ports.patchMergeKey, 'containerPort');
  const protocol = mustType('io.k8s.api.core.v1.ContainerPort').byJson.get('protocol');
  assert.equal(protocol?.default, 'TCP');
  assert.deepEqual(protocol.type.kind === 'scalar' && protocol.type.enum, ['SCTP', 'TCP', 'UDP']);
});

test('values that are published are those kube-apiserver publishes', () => {
  const valuesOf = (type: string, field: string): unknown => {
    const found = mustType(`io.k8s.api.${type}`).byJson.get(field)?.type;
    return found?.kind === 'scalar' ? found.enum : undefined;
  };
  assert.deepEqual(valuesOf('discovery.v1.EndpointSlice', 'addressType'), ['FQDN', 'IPv4', 'IPv6']);
  assert.deepEqual(valuesOf('networking.v1.HTTPIngressPath', 'pathType'), [
    'Exact',
    'ImplementationSpecific',
    'Prefix',
  ]);
  assert.equal(valuesOf('admissionregistration.v1.MutatingWebhook', 'reinvocationPolicy'), undefined);
  assert.equal(valuesOf('admissionregistration.v1.RuleWithOperations', 'scope'), undefined);
});

test('equality is by meaning: quantities by value, unset lists are empty, unset pointers are not zero', () => {
  const type = mustType('io.k8s.api.core.v1.PodSpec');
  const limits = (cpu: string) => ({ containers: [{ name: 'a', resources: { limits: { cpu } } }] });
  assert.ok(equalByType(type, limits('1'), limits('1000m')));
  assert.ok(!equalByType(type, limits('1'), limits('2')));
  assert.ok(
    equalByType(type, { containers: null }, { containers: [], tolerations: [], nodeName: '', nodeSelector: {} }),
  );
  assert.ok(!equalByType(type, { containers: null }, { containers: null, priority: 0 }));
});

test('what is empty is not encoded, even when the object is not in normal form', () => {
  assert.equal(
    encodeJson(mustType('io.k8s.api.core.v1.ConfigMap'), {
      metadata: { labels: {}, finalizers: [], name: '' },
      data: {},
    }),
    '{"metadata":{}}',
  );
});

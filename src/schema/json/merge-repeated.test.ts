import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mustType } from '../catalogue.js';
import { decodeJson, DecodeError } from './decode.js';

const read = (name: string, text: string): Record<string, unknown> =>
  decodeJson(mustType(name), text, { strict: true }).object;
const pod = (spec: string): unknown => read('io.k8s.api.core.v1.Pod', `{"spec":${spec}}`)['spec'];

test('an object that is named twice is one of all its members', () => {
  const rule = '{"host":"a","http":{"paths":[{"path":"/x","backend":{}}]},"http":{}}';
  const ingress = read(
    'io.k8s.api.networking.v1.Ingress',
    `{"spec":{"rules":[${rule}]},"spec":{"ingressClassName":"c"}}`,
  );
  assert.deepEqual(ingress['spec'], {
    ingressClassName: 'c',
    rules: [{ host: 'a', http: { paths: [{ path: '/x', pathType: null, backend: {} }] } }],
  });
});

test('null unsets pointers, lists and maps, and says nothing of the rest', () => {
  const spec = pod(
    `{"containers":[],"hostname":"a","hostname":null,"hostNetwork":true,"hostNetwork":null,"priority":1,"priority":null,
      "securityContext":{"fsGroup":1},"securityContext":null,"securityContext":{"runAsUser":2},
      "nodeSelector":{"a":"1"},"nodeSelector":null,"tolerations":[{"key":"a"}],"tolerations":null}`,
  );
  assert.deepEqual(spec, { containers: [], hostname: 'a', hostNetwork: true, securityContext: { runAsUser: 2 } });
});

test('a map keeps its other keys, each with a value of its own', () => {
  const labels = read(
    'io.k8s.api.core.v1.Pod',
    '{"metadata":{"labels":{"a":"1","b":"2","b":null},"labels":{"c":"3"}}}',
  );
  assert.deepEqual(labels['metadata'], { labels: { a: '1', b: '', c: '3' } });
});

test('items of a list are read into those that stood there, also into those it was cut by', () => {
  assert.deepEqual(
    pod('{"containers":[{"name":"a","image":"i"},{"name":"b","image":"j"}],"containers":[{"name":"c"}]}'),
    {
      containers: [{ name: 'c', image: 'i', resources: {} }],
    },
  );
  const again =
    '{"containers":[{"name":"a"},{"name":"b","image":"j"}],"containers":[{}],"containers":[{},{"tty":true}]}';
  assert.deepEqual(pod(again), {
    containers: [
      { name: 'a', resources: {} },
      { name: 'b', image: 'j', tty: true, resources: {} },
    ],
  });
  assert.deepEqual(pod('{"containers":[{"name":"a"}],"containers":[],"containers":[{}]}'), {
    containers: [{ name: '', resources: {} }],
  });
});

test('a value that does not fit is refused although another one follows', () => {
  assert.throws(() => pod('{"containers":5,"containers":[]}'), DecodeError);
  const limits = '{"containers":[],"overhead":{"cpu":"500m1","cpu":""}}';
  assert.throws(() => pod(limits), new DecodeError("unable to parse quantity's suffix"));
  const schema = '{"additionalProperties":{"maxLength":"x","maxLength":3}}';
  assert.throws(
    () => read('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps', schema),
    /cannot unmarshal string into Go struct field JSONSchemaProps.additionalProperties of type int64/,
  );
});

test('what is named twice within schemas is one too, without an error', () => {
  const schema = '{"items":{"properties":{"a":{"type":"string"}},"properties":{"b":{}}}}';
  const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceValidation';
  const { object, strictErrors } = decodeJson(mustType(name), `{"openAPIV3Schema":${schema}}`, { strict: true });
  assert.deepEqual(object, { openAPIV3Schema: { items: { properties: { a: { type: 'string' }, b: {} } } } });
  assert.deepEqual(strictErrors, []);
});

test('lists that are cut and grow again cost time by what is written, not by what lies behind them', () => {
  const many = Array.from({ length: 20_000 }, () => '""').join();
  const often = '"args":[""],"args":["",""],'.repeat(20_000);
  const started = process.cpuUsage();
  pod(`{"containers":[{"args":[${many}],${often}"name":"a"}]}`);
  assert.ok(process.cpuUsage(started).user < 3_000_000);
});

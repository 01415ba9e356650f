import assert from 'node:assert/strict';
import test from 'node:test';
import { mustType, typeOf } from '../catalogue.js';
import type { StructType } from '../type.js';
import { decodeJson, DecodeError, decodeTree, normalize, parseJsonTree } from './decode.js';
import { encodeJson, encodeStored } from './encode.js';

const kind = (apiVersion: string, name: string): StructType => {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const type = typeOf(group ?? '', version ?? '', name);
  assert.ok(type, name);
  return type;
};
const pod = kind('v1', 'Pod');
const reprint = (type: StructType, text: string): string =>
  encodeJson(type, decodeJson(type, text, { strict: true }).object);

const fails = (text: string, message: string | RegExp): void => {
  assert.throws(
    () => decodeJson(pod, text, { strict: false }),
    (error) =>
      error instanceof DecodeError &&
      (typeof message === 'string' ? error.message === message : message.test(error.message)),
    text.slice(0, 80),
  );
};

test('malformed text is refused in the words of kube-apiserver', () => {
  fails('', 'unexpected end of JSON input');
  fails('{"a":', 'unexpected end of JSON input');
  fails('{"a":tru}', "invalid character '}' in literal true (expecting 'e')");
  fails('{"a":1,}', "invalid character '}' looking for beginning of object key string");
  fails("{'a':1}", "invalid character '\\'' looking for beginning of object key string");
  fails('{} {}', "invalid character '{' after top-level value");
  fails('[1 2]', "invalid character '2' after array element");
  fails('{"a" 1}', "invalid character '1' after object key");
  fails('{"a":01}', "invalid character '1' after object key:value pair");
});

test('a value of the wrong sort is named by its place and type', () => {
  fails(
    '{"metadata":{"name":7}}',
    'json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string',
  );
  fails(
    '{"spec":{"containers":[{"name":true}]}}',
    'json: cannot unmarshal bool into Go struct field Container.spec.containers.name of type string',
  );
  fails(
    '{"spec":{"priority":1.5}}',
    'json: cannot unmarshal number 1.5 into Go struct field PodSpec.spec.priority of type int32',
  );
  fails('{"spec":{"priority":1.0}}', /number 1\.0 into/);
  fails('{"spec":{"priority":2147483648}}', /number 2147483648 into/);
  fails('{"spec":{"activeDeadlineSeconds":9223372036854775808}}', /of type int64$/);
  fails('{"spec":{"containers":[{"resources":{"limits":{"cpu":"bogus"}}}]}}', /^quantities must match/);
  fails('{"metadata":{"creationTimestamp":"yesterday"}}', /^parsing time "yesterday"/);
});

test('what reads itself ends the reading; of all else the first is reported when the rest was read', () => {
  fails('{"metadata":{"name":7,"creationTimestamp":"yesterday"},"spec":5}', /^parsing time "yesterday"/);
  fails(
    '{"spec":{"priority":"x","nodeName":7,"containers":[{"livenessProbe":{"tcpSocket":{"port":1.5}}}]}}',
    /number 1\.5/,
  );
  fails('{"spec":{"priority":"x","nodeName":7}}', /PodSpec\.spec\.priority of type int32$/);
});

test('hostile nesting ends in an error and not in a crash', () => {
  fails('{"a":'.repeat(200_000), /unexpected end|max depth/);
  fails(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 'exceeded max depth');
  fails(`{"metadata":{"managedFields":[{"fieldsV1":${'['.repeat(9_990)}${']'.repeat(9_990)}}]}}`, 'exceeded max depth');
});

test('half a pair of surrogates is read as the mark for what is no character', () => {
  const text =
    '{"metadata":{"annotations":{"a":"\\ud83d\\ude00","b":"x\\ud800y","c":"\\\\ud800","d":"\\udc00\\ud83d","\\uDFFF":""}}}';
  const { object } = decodeJson(pod, text, { strict: true });
  assert.deepEqual(object['metadata'], {
    annotations: { a: '\u{1f600}', b: 'x\ufffdy', c: '\\ud800', d: '\ufffd\ufffd', '\ufffd': '' },
  });
});

test('unknown and duplicate fields are reported in the order of the text, at any depth', () => {
  const text =
    '{"metadata":{"name":"a","name":"b","zz":1},"spec":{"containers":[{"name":"x","foo":{"a":1,"a":2},"name":"y"}],"Containers":[]},"bar":1}';
  const { object, strictErrors } = decodeJson(pod, text, { strict: true });
  assert.deepEqual(strictErrors, [
    'duplicate field "metadata.name"',
    'unknown field "metadata.zz"',
    'unknown field "spec.containers[0].foo"',
    'duplicate field "spec.containers[0].name"',
    'unknown field "spec.Containers"',
    'unknown field "bar"',
  ]);
  assert.equal(
    encodeJson(pod, object),
    '{"metadata":{"name":"b"},"spec":{"containers":[{"name":"y","resources":{}}]},"status":{}}',
  );
  assert.deepEqual(decodeJson(pod, text, { strict: false }).strictErrors, []);
});

test('duplicates in maps are found too, and no more than 100 errors are collected', () => {
  assert.deepEqual(decodeJson(pod, '{"metadata":{"labels":{"a":"1","a":"1"}}}', { strict: true }).strictErrors, [
    'duplicate field "metadata.labels.a"',
  ]);
  const many = `{${Array.from({ length: 150 }, (_, i) => `"u${i}":1`).join(',')}}`;
  assert.equal(decodeJson(pod, many, { strict: true }).strictErrors.length, 100);
});

test('duplicates inside opaque members are nobody’s business', () => {
  const text = '{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{},"f:a":{}}}]}}';
  assert.deepEqual(decodeJson(pod, text, { strict: true }).strictErrors, []);
});

test('the normal form drops what is empty and fills in what is always encoded', () => {
  assert.equal(reprint(pod, '{}'), '{"metadata":{},"spec":{"containers":null},"status":{}}');
  assert.equal(
    reprint(
      pod,
      '{"metadata":{"name":"","labels":{},"generation":0,"creationTimestamp":null},"spec":{"containers":[],"nodeName":null}}',
    ),
    '{"metadata":{},"spec":{"containers":[]},"status":{}}',
  );
  assert.equal(
    reprint(kind('apps/v1', 'Deployment'), '{"spec":{"replicas":0,"template":{}}}'),
    '{"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}}',
  );
  assert.equal(
    reprint(kind('v1', 'Event'), '{}'),
    '{"metadata":{},"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,"reportingComponent":"","reportingInstance":""}',
  );
});

test('null sets elements and members to their zero value', () => {
  assert.equal(
    reprint(pod, '{"metadata":{"labels":{"a":null}},"spec":{"containers":[null]}}'),
    '{"metadata":{"labels":{"a":""}},"spec":{"containers":[{"name":"","resources":{}}]},"status":{}}',
  );
});

test('bytes may be sent as a list of numbers, and null among them is none', () => {
  const map = mustType('io.k8s.api.core.v1.ConfigMap');
  assert.equal(
    reprint(map, '{"binaryData":{"a":null,"b":[1,2,null],"c":[],"d":"AAEC"}}'),
    '{"metadata":{},"binaryData":{"a":"","b":"AQIA","c":"","d":"AAEC"}}',
  );
  for (const wrong of ['["a"]', '[256]', '[-1]', '[1.5]', '{}', '7']) {
    assert.throws(() => reprint(map, `{"binaryData":{"a":${wrong}}}`), DecodeError);
  }
});

test('scalars are canonical: quantities, times, integers beyond 2^53, base64', () => {
  const text =
    '{"metadata":{"creationTimestamp":"2024-01-02T03:04:05.6+02:00"},"spec":{"activeDeadlineSeconds":9007199254740993,"containers":[{"name":"c","resources":{"limits":{"a":0.5,"b":1e3,"c":"1024Mi","d":1000}}}]}}';
  assert.equal(
    reprint(pod, text),
    '{"metadata":{"creationTimestamp":"2024-01-02T01:04:05Z"},"spec":{"containers":[{"name":"c","resources":{"limits":{"a":"500m","b":"1e3","c":"1Gi","d":"1k"}}}],"activeDeadlineSeconds":9007199254740993},"status":{}}',
  );
  assert.equal(
    reprint(kind('v1', 'Secret'), '{"data":{"b":"QUI=\\n","a":"AB=="}}'),
    '{"metadata":{},"data":{"a":"AA==","b":"QUI="}}',
  );
});

test('strings are encoded as by Go', () => {
  const text = JSON.stringify({ data: { a: '<b>&\u2028\u2029"\\\n\r\t\b\f\u0001\u007fé😀' } });
  assert.equal(
    reprint(kind('v1', 'ConfigMap'), text),
    '{"metadata":{},"data":{"a":"\\u003cb\\u003e\\u0026\\u2028\\u2029\\"\\\\\\n\\r\\t\\b\\f\\u0001\u007fé😀"}}',
  );
  assert.equal(reprint(kind('v1', 'ConfigMap'), '{"data":{"a":"\\ud800"}}'), '{"metadata":{},"data":{"a":"\ufffd"}}');
});

test('a member called __proto__ is a member like any other', () => {
  assert.equal(
    reprint(kind('v1', 'ConfigMap'), '{"data":{"__proto__":"x"}}'),
    '{"metadata":{},"data":{"__proto__":"x"}}',
  );
});

test('schemas inside a CRD lose unknown members without a word', () => {
  const { object, strictErrors } = decodeJson(
    kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition'),
    '{"spec":{"versions":[{"schema":{"openAPIV3Schema":{"additionalProperties":{"type":"x","bogus":1},"items":[{"bogus":2}],"enum":[null,1]}}}]}}',
    { strict: true },
  );
  assert.deepEqual(strictErrors, []);
  assert.deepEqual(normalize(kind('apiextensions.k8s.io/v1', 'CustomResourceDefinition'), object)['spec'], {
    group: '',
    names: { plural: '', kind: '' },
    scope: '',
    versions: [
      {
        name: '',
        served: false,
        storage: false,
        schema: { openAPIV3Schema: { additionalProperties: { type: 'x' }, items: [{}], enum: [null, 1] } },
      },
    ],
  });
});

test('a tree decodes by its type, and a text without type reports its duplicates', () => {
  assert.deepEqual(decodeTree(pod, { spec: { containers: [{ nam: 1 }] } }, { strict: true }).strictErrors, [
    'unknown field "spec.containers[0].nam"',
  ]);
  assert.deepEqual(normalize(pod, { kind: undefined, metadata: { name: 'a', labels: undefined }, other: undefined }), {
    metadata: { name: 'a' },
    spec: { containers: null },
    status: {},
  });
  assert.throws(() => decodeTree(pod, { metadata: [] }, { strict: false }), DecodeError);
  assert.deepEqual(parseJsonTree('{"a":[{"b":1,"b":2}],"c":1.0,"e":9007199254740993}'), {
    value: { a: [{ b: 2 }], c: 1, e: 9007199254740993n },
    duplicates: ['duplicate field "a[0].b"'],
  });
});

test('a kept object encodes an empty list as none, as one read back from protobuf does', () => {
  const role = kind('rbac.authorization.k8s.io/v1', 'Role');
  const { object } = decodeJson(role, '{"metadata":{},"rules":[]}', { strict: true });
  assert.match(encodeJson(role, object), /"rules":\[\]/);
  assert.match(encodeStored(role, object), /"rules":null/);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError } from './config-error.js';
import { decodeConfig } from './decode-config.js';

const options = {
  kinds: [{ kind: 'AuthorizationConfiguration', apiVersions: ['apiserver.config.k8s.io/v1'] }],
  scheme: 'some/place.go:1',
};
const HEAD = 'apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n';
const refusal = (text: string): string => {
  try {
    decodeConfig(text, options);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return 'accepted';
};

test('a good file is decoded, from YAML or JSON', () => {
  const yaml = decodeConfig(`${HEAD}authorizers: [{type: RBAC, name: rbac}]`, options);
  assert.deepEqual(yaml.object.authorizers, [{ type: 'RBAC', name: 'rbac' }]);
  const json = decodeConfig(JSON.stringify(yaml.object), options);
  assert.deepEqual(json, yaml);
});

test('what does not belong there is refused, all of it at once', () => {
  assert.equal(
    refusal(`${HEAD}authorizers: [{type: RBAC, nmae: x}]\nmore: 1`),
    'strict decoding error: unknown field "authorizers[0].nmae", unknown field "more"',
  );
  assert.match(refusal(`${HEAD}authorizers: []\nauthorizers: []`), /^strict decoding error: .*already set in map/s);
});

test('what begins with a brace is JSON or nothing', () => {
  assert.match(refusal('{apiVersion: apiserver.config.k8s.io/v1, kind: AuthorizationConfiguration}'), /invalid char/);
});

test('a file that does not say what it is, or is something else, is refused', () => {
  assert.equal(refusal('authorizers: []'), "Object 'Kind' is missing in 'authorizers: []'");
  assert.equal(
    refusal('kind: AuthorizationConfiguration'),
    "Object 'apiVersion' is missing in 'kind: AuthorizationConfiguration'",
  );
  assert.equal(
    refusal('apiVersion: v1\nkind: Pod'),
    'no kind "Pod" is registered for version "v1" in scheme "some/place.go:1"',
  );
  assert.match(refusal(''), /^Object 'Kind' is missing/);
  assert.match(refusal('[1]'), /cannot unmarshal array/);
  assert.match(refusal('kind: 3'), /cannot unmarshal number into Go struct field \.kind of type string/);
  assert.match(refusal('{"kind": '), /./);
  assert.equal(refusal('apiVersion: a/b/c\nkind: X'), 'unexpected GroupVersion string: a/b/c');
});

test('a byte order mark in front is passed over', () => {
  const json = `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthorizationConfiguration"}`;
  for (const text of [json, HEAD]) assert.equal(refusal(`\ufeff${text}`), 'accepted');
});

test('version and kind are found in any case, and then refused for their case', () => {
  assert.equal(
    refusal('{"ApiVersion":"apiserver.config.k8s.io/v1","Kind":"AuthorizationConfiguration"}'),
    'strict decoding error: unknown field "ApiVersion", unknown field "Kind"',
  );
});

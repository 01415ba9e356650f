import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationAttributes } from '../authorizer.js';
import { abacAuthorizer } from './authorizer.js';
import { parsePolicy } from './policy.js';

const VERSIONED = { apiVersion: 'abac.authorization.kubernetes.io/v1beta1', kind: 'Policy' };
const question: AuthorizationAttributes = {
  user: { name: 'alice', groups: ['dev', 'system:authenticated'] },
  verb: 'get',
  resourceRequest: true,
  apiGroup: '',
  apiVersion: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'a',
  name: '',
  path: '',
};

async function allowed(policy: object, more: Partial<AuthorizationAttributes> = {}): Promise<boolean> {
  const authorizer = abacAuthorizer([parsePolicy(JSON.stringify(policy))]);
  return (await authorizer.authorize({ ...question, ...more })).decision === 'allow';
}

test('a malformed line is refused with the words of its parser', () => {
  const refused = (line: string, text: RegExp): void => assert.throws(() => parsePolicy(line), text);
  refused('words', /^Error: couldn't get version\/kind; json parse error: /);
  refused('[]', /^Error: couldn't get version\/kind; json parse error: /);
  refused('{"user":5}', /^Error: json: cannot unmarshal number into Go struct field Policy.user of type string$/);
  refused(
    JSON.stringify({ ...VERSIONED, spec: { readonly: 'yes' } }),
    /^Error: json: cannot unmarshal string into Go struct field PolicySpec.spec.readonly of type bool$/,
  );
  refused('{"kind":"Rule"}', /no kind "Rule" is registered for version "abac.authorization.kubernetes.io\/v0"/);
  refused('{"apiVersion":"v9"}', /no kind "Policy" is registered for version "v9"/);
});

test('a legacy line allows all it does not narrow; a versioned one nothing it does not name', async () => {
  const path = { resourceRequest: false, path: '/version' };
  assert.equal(await allowed({ user: 'alice' }), true);
  assert.equal(await allowed({ user: 'alice' }, path), true);
  assert.equal(await allowed({ user: 'alice', namespace: 'a' }, path), false);
  assert.equal(await allowed({ user: 'alice', namespace: 'b' }), false);
  assert.equal(await allowed({ ...VERSIONED, spec: { user: 'alice' } }), false);
  assert.equal(await allowed({ ...VERSIONED, spec: { user: 'alice', resource: 'pods', namespace: 'a' } }), true);
  assert.equal(await allowed({ ...VERSIONED, spec: { user: 'alice', resource: 'pods' } }), false);
  assert.equal(await allowed({ ...VERSIONED, spec: { user: 'alice', nonResourcePath: '/vers*' } }, path), true);
});

test('a star is everybody who is known; a user and a group are both wanted; readonly reads', async () => {
  const all = { namespace: '*', resource: '*', apiGroup: '*' };
  assert.equal(await allowed({ ...VERSIONED, spec: { ...all, user: '*' } }), true);
  const unknown = { user: { name: 'x', groups: ['system:unauthenticated'] } };
  assert.equal(await allowed({ ...VERSIONED, spec: { ...all, user: '*' } }, unknown), false);
  assert.equal(await allowed({}, unknown), false);
  assert.equal(await allowed({ ...VERSIONED, spec: { ...all, user: 'alice', group: 'qa' } }), false);
  assert.equal(await allowed({ ...VERSIONED, spec: { ...all, user: 'alice', group: 'dev' } }), true);
  assert.equal(await allowed({ ...VERSIONED, spec: all }), false);
  assert.equal(await allowed({ user: 'alice', readonly: true }, { verb: 'update' }), false);
});

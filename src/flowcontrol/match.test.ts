import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInfo } from '../machinery/request-info.js';
import type { PolicyRulesWithSubjects, Subject } from '../schema/generated/flowcontrol.v1.js';
import { byPrecedence, type Ranked, SchemaMatcher } from './match.js';

const info = (overrides: Partial<RequestInfo>): RequestInfo => ({
  isResourceRequest: true,
  path: '',
  verb: 'get',
  verbInPath: false,
  usualMethod: true,
  apiPrefix: 'api',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: '',
  resource: 'pods',
  subresource: '',
  name: '',
  parts: [],
  fieldSelector: '',
  labelSelector: '',
  ...overrides,
});
const schema = (name: string, precedence: number, ...rules: PolicyRulesWithSubjects[]): Ranked => ({
  name,
  spec: { matchingPrecedence: precedence, priorityLevelConfiguration: { name: 'level' }, rules },
});
const user = (name: string): Subject => ({ kind: 'User', user: { name } });
const group = (name: string): Subject => ({ kind: 'Group', group: { name } });
const account = (namespace: string, name: string): Subject => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace, name },
});
const pods = {
  verbs: ['*'],
  apiGroups: ['*'],
  resources: ['pods', 'pods/status'],
  namespaces: ['team'],
  clusterScope: true,
};
const urls = (...nonResourceURLs: string[]) => ({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs }] });

function matched(schemas: Ranked[], request: RequestInfo, name: string, groups: string[] = []): string | undefined {
  const sorted = [...schemas].sort(byPrecedence);
  const place = new SchemaMatcher(sorted).match(request, { name, groups });
  return place === undefined ? undefined : sorted[place]?.name;
}

test('the lowest precedence wins, then the name, whatever way the subject is found', () => {
  const all = [
    schema('late', 900, { subjects: [user('*')], resourceRules: [pods] }),
    schema('b-group', 500, { subjects: [group('dev')], resourceRules: [pods] }),
    schema('a-user', 500, { subjects: [user('bob')], resourceRules: [pods] }),
    schema('account', 100, { subjects: [account('team', '*')], resourceRules: [pods] }),
  ];
  assert.equal(matched(all, info({}), 'bob', ['dev']), 'a-user');
  assert.equal(matched(all, info({}), 'eve', ['dev']), 'b-group');
  assert.equal(matched(all, info({}), 'eve'), 'late');
  assert.equal(matched(all, info({}), 'system:serviceaccount:team:x', ['dev']), 'account');
  assert.equal(matched(all, info({}), 'system:serviceaccount:teams:x'), 'late');
  assert.equal(matched(all, info({ resource: 'nodes' }), 'bob', ['dev']), undefined);
});

test('namespaces, the cluster scope and subresources are distinguished', () => {
  const one = [schema('one', 1, { subjects: [user('*')], resourceRules: [pods] })];
  assert.equal(matched(one, info({ namespace: 'team', subresource: 'status' }), 'bob'), 'one');
  assert.equal(matched(one, info({ namespace: 'other' }), 'bob'), undefined);
  assert.equal(matched(one, info({ subresource: 'log' }), 'bob'), undefined);
  const narrow = [schema('one', 1, { subjects: [user('*')], resourceRules: [{ ...pods, clusterScope: false }] })];
  assert.equal(matched(narrow, info({}), 'bob'), undefined);
});

test('a path stands for all that lies below it', () => {
  const one = [schema('one', 1, { subjects: [group('*')], ...urls('/livez', '/logs/*') })];
  const path = (text: string): RequestInfo => info({ isResourceRequest: false, path: text });
  for (const text of ['/livez', '/livez/ping', '/logs/x']) assert.equal(matched(one, path(text), 'bob'), 'one', text);
  for (const text of ['/livezz', '/logs', '/']) assert.equal(matched(one, path(text), 'bob'), undefined, text);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestInfo } from '../machinery/request-info.js';
import type { PolicyRule } from '../schema/generated/audit.v1.js';
import { STAGES } from './levels.js';
import { compilePolicy, type Recording } from './policy.js';

const ALICE = { name: 'alice', groups: ['dev', 'qa'] };
const info = (over: Partial<RequestInfo>): RequestInfo => ({
  isResourceRequest: true,
  path: '/x',
  verb: 'get',
  apiPrefix: 'api',
  apiGroup: '',
  apiVersion: 'v1',
  namespace: 'default',
  resource: 'pods',
  subresource: '',
  name: 'p',
  parts: [],
  fieldSelector: '',
  labelSelector: '',
  verbInPath: false,
  usualMethod: true,
  ...over,
});
const matches = (
  rule: Partial<PolicyRule>,
  over: Partial<RequestInfo> = {},
  user: typeof ALICE | undefined = ALICE,
): boolean =>
  compilePolicy({ metadata: {}, rules: [{ level: 'Metadata', ...rule }] })(user, info(over)).level === 'Metadata';

test('a rule matches by user, group and verb, all of them', () => {
  assert.equal(matches({ users: ['alice'], userGroups: ['x', 'qa'], verbs: ['get'] }), true);
  assert.equal(matches({ users: ['bob'] }), false);
  assert.equal(matches({ userGroups: ['ops'] }), false);
  assert.equal(matches({ users: ['alice'], verbs: ['list'] }), false);
  assert.equal(
    compilePolicy({ metadata: {}, rules: [{ level: 'Metadata', users: ['alice'] }] })(undefined, info({})).level,
    'None',
  );
});

test('resources are named with their subresources, wildcards on either side', () => {
  const rule = (...resources: string[]) => ({ resources: [{ group: '', resources }] });
  const log = { subresource: 'log' };
  assert.deepEqual([matches(rule('pods')), matches(rule('pods'), log)], [true, false]);
  assert.deepEqual([matches(rule('pods/log')), matches(rule('pods/log'), log)], [false, true]);
  assert.deepEqual([matches(rule('pods/*')), matches(rule('pods/*'), log)], [true, true]);
  assert.deepEqual([matches(rule('*/log')), matches(rule('*/log'), log)], [false, true]);
  assert.deepEqual([matches(rule('*')), matches(rule('*'), log)], [true, true]);
  assert.equal(matches({ resources: [{ group: 'apps' }] }), false);
  assert.equal(matches({ resources: [{}] }), true);
  assert.equal(matches({ resources: [{ resources: ['pods'], resourceNames: ['q'] }] }), false);
});

test('what is in no namespace is in the one without a name, and what is no resource in none', () => {
  assert.equal(matches({ namespaces: [''] }, { namespace: '' }), true);
  assert.equal(matches({ namespaces: ['other'] }), false);
  assert.equal(matches({ namespaces: [''] }, { namespace: '', isResourceRequest: false }), false);
});

test('paths match as a whole or up to a star, and never a resource', () => {
  const at = (path: string) => ({ isResourceRequest: false, path });
  assert.equal(matches({ nonResourceURLs: ['/healthz*'] }, at('/healthz/etcd')), true);
  assert.equal(matches({ nonResourceURLs: ['/healthz'] }, at('/healthz/etcd')), false);
  assert.equal(matches({ nonResourceURLs: ['*'] }, at('/any')), true);
  assert.equal(matches({ nonResourceURLs: ['*'] }), false);
});

test('the first rule that matches decides; stages add up, managed fields are the rule’s to say', () => {
  const policy = compilePolicy({
    metadata: {},
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'Request', verbs: ['get'], omitStages: ['Panic'], omitManagedFields: false },
      { level: 'Metadata' },
    ],
  });
  const first = policy(ALICE, info({}));
  assert.deepEqual(
    [first.level, omittedBy(first), first.omitManagedFields],
    ['Request', ['RequestReceived', 'Panic'], false],
  );
  const second = policy(ALICE, info({ verb: 'list' }));
  assert.deepEqual(
    [second.level, omittedBy(second), second.omitManagedFields],
    ['Metadata', ['RequestReceived'], true],
  );
});

const omittedBy = ({ omits }: Recording): string[] => STAGES.filter((stage) => omits[stage]);

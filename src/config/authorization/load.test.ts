import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReviewConditionCompiler } from '../../cel/review-condition.js';
import { ConfigError } from '../config-error.js';
import type { AuthorizerConfig } from './config.js';
import { loadAuthorizationConfig } from './load.js';

const compiler: ReviewConditionCompiler = {
  compileReviewCondition: (expression) =>
    expression === 'bad'
      ? { kind: 'invalid', detail: 'compilation failed: bad' }
      : { expression, evaluate: () => ({ holds: true }) },
};

/** A file that is there, and is one. */
const kubeConfigFile = process.execPath;
const webhook = {
  timeout: '3s',
  subjectAccessReviewVersion: 'v1',
  failurePolicy: 'Deny',
  connectionInfo: { type: 'KubeConfigFile', kubeConfigFile },
};
const fileOf = (...authorizers: object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthorizationConfiguration', authorizers });
const hook = (over: object = {}, name = 'hook'): object => ({
  type: 'Webhook',
  name,
  webhook: { ...webhook, ...over },
});

const load = (text: string): readonly AuthorizerConfig[] => loadAuthorizationConfig(text, { compiler });

function refusal(text: string, ...required: string[]): string {
  try {
    loadAuthorizationConfig(text, { compiler, required: new Set(required) });
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
}

test('what is not said is filled in', () => {
  const loaded = load(fileOf(hook({ cacheUnauthorizedRequests: false }), { type: 'RBAC', name: 'rbac' }));
  assert.deepEqual(loaded, [
    {
      type: 'Webhook',
      name: 'hook',
      webhook: {
        timeoutMs: 3000,
        authorizedTtlMs: 300_000,
        unauthorizedTtlMs: 0,
        reviewVersion: 'v1',
        failurePolicy: 'Deny',
        kubeConfigFile,
        matchConditions: [],
      },
    },
    { type: 'RBAC', name: 'rbac' },
  ]);
});

test('all errors are reported at once, with paths that leave the webhook out', () => {
  assert.equal(refusal(''), 'authorizers: Required value: at least one authorization mode must be defined');
  assert.equal(
    refusal(
      fileOf(
        hook({ timeout: '31s', authorizedTTL: '-1s', failurePolicy: '', connectionInfo: { type: 'Pigeon' } }),
        { type: 'RBAC', name: '' },
        { type: 'Dice', name: 'dice' },
        { type: 'Node', name: 'hook', webhook },
      ),
    ),
    '[authorizers[0].timeout: Invalid value: "31s": must be > 0s and <= 30s, ' +
      'authorizers[0].authorizedTTL: Invalid value: "-1s": must be > 0s, ' +
      'authorizers[0].failurePolicy: Required value, ' +
      'authorizers[0].connectionInfo.type: Unsupported value: {"Type":"Pigeon","KubeConfigFile":null}: ' +
      'supported values: "InClusterConfig", "KubeConfigFile", ' +
      'authorizers[1].name: Required value, ' +
      'authorizers[2].type: Unsupported value: "Dice": ' +
      'supported values: "ABAC", "AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook", ' +
      'authorizers[3].name: Duplicate value: "hook", ' +
      'authorizers[3].webhook: Invalid value: "non-null": may only be specified when type=Webhook]',
  );
});

test('conditions need a version, must compile, and stand there once', () => {
  const conditions = (...expressions: string[]) => ({
    matchConditions: expressions.map((expression) => ({ expression })),
  });
  assert.equal(
    refusal(fileOf(hook(conditions('a', 'a', ' ', 'bad')))),
    '[authorizers[0].matchConditionSubjectAccessReviewVersion: Required value: required if match conditions are specified, ' +
      'authorizers[0].matchConditions[1].expression: Duplicate value: "a", ' +
      'authorizers[0].matchConditions[2].expression: Required value, ' +
      'authorizers[0].matchConditions[3].expression: Invalid value: "bad": compilation failed: bad]',
  );
  const many = Array.from({ length: 65 }, (_, index) => String(index));
  assert.match(
    refusal(fileOf(hook({ ...conditions(...many), matchConditionSubjectAccessReviewVersion: 'v1' }))),
    /matchConditions: Too many: 65: must have at most 64 items$/,
  );
});

test('names of built-in types are theirs, and what a server was started with must stay', () => {
  assert.equal(
    refusal(fileOf({ type: 'RBAC', name: 'mine' }), 'RBAC', 'Node', 'ABAC'),
    '[expected name rbac for authorizer RBAC instead of mine, missing required types: [ABAC Node]]',
  );
});

test('another kind, or none, is no authorization configuration', () => {
  const start = 'failed to load AuthorizationConfiguration from file: ';
  assert.equal(
    refusal('{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AuthenticationConfiguration"}'),
    `${start}expected AuthorizationConfiguration, got *apiserver.AuthenticationConfiguration`,
  );
  assert.match(refusal('authorizers: []'), /^failed to load .*: Object 'Kind' is missing in /);
});

test('a duration of nothing is none', () => {
  assert.match(refusal(fileOf(hook({ authorizedTTL: null }))), /: time: invalid duration ""$/);
});

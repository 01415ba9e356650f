import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ADMISSION_PLUGIN_DEFAULTS } from '../options/admission-plugins.js';
import type { KubeObject } from '../machinery/object.js';
import { orderedPlugins } from './ordered-plugins.js';
import type { HookPluginParts } from './plugins/admission-webhooks.js';
import { NO_POD_SECURITY } from './plugins/pod-security.js';

const NO_HOOKS: HookPluginParts = {
  source: { ready: true, whenReady: async () => true, hooks: [] },
  parts: () => assert.fail('no webhook is called'),
};

const NO_POLICIES = {
  source: { ready: true, whenReady: async () => true, bound: [] },
  served: {
    equivalentsOf: () => [],
    convert: () => undefined,
    inVersion: (_resource: unknown, object: KubeObject) => object,
    encode: (_resource: unknown, _kind: unknown, object: object) => JSON.stringify(object),
    toStored: (_resource: unknown, _kind: unknown, tree: object) => tree as KubeObject,
    typeOf: () => undefined,
  },
};

test('every plugin the flags know is in the list, once', () => {
  const plugins = orderedPlugins({
    authorizer: {
      authorize: () => ({ decision: 'deny', reason: '' }),
      rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
    },
    resourceOf: () => undefined,
    eventLimits: [],
    imagePolicy: {
      settings: {
        client: { request: () => assert.fail('no webhook is called') },
        server: new URL('https://images.test/'),
        allowTtlMs: 0,
        denyTtlMs: 0,
        retryBackoffMs: 1,
        defaultAllow: false,
      },
      nowMs: () => 0,
      random: () => 0,
      wait: async () => undefined,
      log: silentLog,
    },
    limitedResources: [],
    nodeSelectors: {},
    podSecurity: NO_POD_SECURITY,
    serviceAccount: { nameSuffix: () => '', wait: async () => {} },
    tolerationLists: { default: [], whitelist: [] },
    tolerationSeconds: { notReady: 300, unreachable: 300 },
    mutatingPolicy: NO_POLICIES,
    validatingPolicy: NO_POLICIES,
    webhooks: { mutating: NO_HOOKS, validating: NO_HOOKS },
  });
  const names = plugins.map(({ name }) => name);
  assert.deepEqual(names.sort(), Object.keys(ADMISSION_PLUGIN_DEFAULTS).sort());
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, describe, it } from 'node:test';
import { jsonSlice } from './json-slice.js';
import { loadAdmissionSettings } from './load.js';
import { identityIn } from './webhook-users.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'admission-'));
after(() => fs.rmSync(folder, { recursive: true }));

function file(name: string, content: unknown): string {
  const to = path.join(folder, name);
  fs.writeFileSync(to, typeof content === 'string' ? content : JSON.stringify(content, undefined, 1));
  return to;
}
const load = (content: unknown, ...enabled: readonly string[]) =>
  loadAdmissionSettings(file('admission.yaml', content), new Set(enabled));
const plugin = (name: string, configuration: unknown) => ({
  apiVersion: 'apiserver.config.k8s.io/v1',
  kind: 'AdmissionConfiguration',
  plugins: [{ name, configuration }],
});
const inEmptyFile = (name: string) => ({ name, path: file('empty.yaml', '') });
const refused = (content: unknown, ...enabled: readonly string[]): string => {
  try {
    load(content, ...enabled);
  } catch (error) {
    if (error instanceof Error) return error.message.replace('failed to apply admission: ', '');
  }
  return assert.fail('it was accepted');
};

describe('the configuration of admission plugins', () => {
  it('is what the plugins go by without a file', () => {
    const settings = loadAdmissionSettings('', new Set(['PodSecurity', 'ResourceQuota', 'PodNodeSelector']));
    assert.deepEqual([settings.podSecurity, settings.limitedResources, settings.nodeSelectors], [undefined, [], {}]);
  });

  it('of plugins that are off is not looked at', () => {
    const content = plugin('PodSecurity', { kind: 'Nonsense' });
    assert.equal(load(content).podSecurity, undefined);
    assert.match(
      refused(content, 'PodSecurity'),
      /^couldn't init admission plugin "PodSecurity": Object 'apiVersion' is/,
    );
  });

  it('is shown as it was written when it says too little', () => {
    const said = refused(plugin('ResourceQuota', { limitedResources: [] }), 'ResourceQuota');
    assert.match(said, /Object 'Kind' is missing in '\{\n {4}"limitedResources": \[\]\n {3}\}'$/);
  });

  it('of another kind is refused by its name', () => {
    const other = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'TracingConfiguration' };
    assert.equal(refused(other), 'failed to read plugin config: unexpected type: *apiserver.TracingConfiguration');
  });

  it('is refused for what stands twice, and for numbers that are no integers, where the plugin reads it', () => {
    const text = (inner: string) =>
      `{"apiVersion":"apiserver.config.k8s.io/v1","kind":"AdmissionConfiguration","plugins":[{"name":"N","configuration":{${inner}}}]}`;
    const quota = '"apiVersion":"apiserver.config.k8s.io/v1","kind":"ResourceQuotaConfiguration"';
    assert.equal(
      refused(
        text(`${quota},"limitedResources":[],"limitedResources":[]`).replace('"N"', '"ResourceQuota"'),
        'ResourceQuota',
      ),
      `couldn't init admission plugin "ResourceQuota": strict decoding error: duplicate field "limitedResources"`,
    );
    const limits = (qps: string) =>
      `"apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","kind":"Configuration","limits":[{"type":"Server","qps":1,"qps":${qps},"burst":1}]`;
    assert.match(
      refused(text(limits('1e2')).replace('"N"', '"EventRateLimit"'), 'EventRateLimit'),
      /cannot unmarshal number 1e2 into Go struct field Limit\.limits\.qps of type int32/,
    );
    assert.doesNotThrow(() => load(text(limits('2')).replace('"N"', '"EventRateLimit"'), 'EventRateLimit'));
  });

  it('of one plugin alone is still accepted, whatever kind it says, when nothing knows that', () => {
    const own = { kind: 'Selectors', podNodeSelectorPluginConfig: { one: 'a=b' } };
    assert.deepEqual(load(own, 'PodNodeSelector').nodeSelectors, { one: 'a=b' });
    assert.match(refused({ PodNodeSelectorPluginConfig: {} }, 'PodNodeSelector'), /Object 'Kind' is missing/);
  });

  it('in an empty file is the default, where the plugin has one', () => {
    const empty = { ...plugin('', {}), plugins: ['PodSecurity', 'ImagePolicyWebhook'].map(inEmptyFile) };
    assert.equal(load(empty, 'PodSecurity').podSecurity?.defaults.enforce.level, 'privileged');
    assert.match(refused(empty, 'ImagePolicyWebhook'), /"ImagePolicyWebhook": EOF$/);
  });

  it('needs limits of events, and shows what it found', () => {
    const head = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' };
    const saidOf = (more: object) => refused(plugin('EventRateLimit', { ...head, ...more }), 'EventRateLimit');
    assert.match(saidOf({}), /limits: Invalid value: null: must not be empty$/);
    assert.match(saidOf({ limits: [] }), /limits: Invalid value: \[\]: must not be empty$/);
  });

  it('reads pod security in its older versions, which have the same fields', () => {
    for (const version of ['v1beta1', 'v1alpha1']) {
      const head = { apiVersion: `pod-security.admission.config.k8s.io/${version}`, kind: 'PodSecurityConfiguration' };
      const given = plugin('PodSecurity', { ...head, defaults: { enforce: 'baseline' } });
      assert.deepEqual(load(given, 'PodSecurity').podSecurity?.defaults.enforce, {
        level: 'baseline',
        minor: Infinity,
      });
    }
  });

  it('sets pod security, and reports all its errors at once', () => {
    const head = { apiVersion: 'pod-security.admission.config.k8s.io/v1', kind: 'PodSecurityConfiguration' };
    const { podSecurity } = load(
      plugin('PodSecurity', {
        ...head,
        defaults: { enforce: 'baseline', 'warn-version': 'v1.20' },
        exemptions: { usernames: ['a'] },
      }),
      'PodSecurity',
    );
    assert.deepEqual(podSecurity?.defaults, {
      enforce: { level: 'baseline', minor: Infinity },
      audit: { level: 'privileged', minor: Infinity },
      warn: { level: 'privileged', minor: 20 },
    });
    assert.deepEqual(podSecurity?.exemptions.usernames, ['a']);
    assert.equal(
      refused(plugin('PodSecurity', { ...head, defaults: { enforce: 'x', audit: 'y' } }), 'PodSecurity'),
      'failed to initialize admission plugin "PodSecurity": PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, audit: must be one of privileged, baseline, restricted]',
    );
    const names = { namespaces: ['a', 'a'], usernames: [''] };
    assert.equal(
      refused(plugin('PodSecurity', { ...head, exemptions: names }), 'PodSecurity'),
      'failed to initialize admission plugin "PodSecurity": PodSecurity invalid: [exemptions.namespaces[1]: Duplicate value: "a", exemptions.usernames[0]: Invalid value: "": username must not be empty]',
    );
  });

  it('limits events, and must', () => {
    const head = { apiVersion: 'eventratelimit.admission.k8s.io/v1alpha1', kind: 'Configuration' };
    const limits = [{ type: 'User', qps: 5, burst: 9 }];
    const { eventLimits } = load(plugin('EventRateLimit', { ...head, limits }), 'EventRateLimit');
    assert.deepEqual(eventLimits, [{ type: 'User', qps: 5, burst: 9, cacheSize: 4096 }]);
    assert.match(refused(plugin('Other', {}), 'EventRateLimit'), /limits: Invalid value: null: must not be empty$/);
    const wrong = [{ type: 'Pod', qps: 0, burst: -1, cacheSize: -1 }];
    assert.match(
      refused(plugin('EventRateLimit', { ...head, limits: wrong }), 'EventRateLimit'),
      /limits\[0\].type: Unsupported value.*limits\[0\].burst: .*limits\[0\].qps: .*limits\[0\].cacheSize: /,
    );
  });

  it('names node selectors and tolerations, in a file of its own or alone', () => {
    const own = file('selectors.yaml', 'podNodeSelectorPluginConfig:\n  clusterDefaultNodeSelector: a=b\n');
    const byPath = { ...plugin('', {}), plugins: [{ name: 'PodNodeSelector', path: path.basename(own) }] };
    for (const content of [byPath, fs.readFileSync(own, 'utf8')]) {
      assert.deepEqual(load(content, 'PodNodeSelector').nodeSelectors, { clusterDefaultNodeSelector: 'a=b' });
    }
    const head = { apiVersion: 'podtolerationrestriction.admission.k8s.io/v1alpha1', kind: 'Configuration' };
    const lists = load(
      plugin('PodTolerationRestriction', { ...head, default: [{ operator: 'Exists' }] }),
      'PodTolerationRestriction',
    );
    assert.deepEqual(lists.tolerationLists.default, [{ operator: 'Exists' }]);
    assert.match(
      refused(
        plugin('PodTolerationRestriction', { ...head, whitelist: [{ operator: 'Maybe' }] }),
        'PodTolerationRestriction',
      ),
      /invalid config: \[podtolerationrestriction.whitelist\[0\].operator/,
    );
  });

  it('distinguishes hooks by host, wildcard, default and context', () => {
    const users = (names: readonly string[]) => names.map((name) => ({ name, user: { token: name } }));
    const kubeConfigFile = file('users.yaml', {
      users: users(['a.test:8443', '*.test:8443', 'b.test', '*', 'me']),
    });
    const head = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'WebhookAdmissionConfiguration' };
    const settings = load(
      plugin('ValidatingAdmissionWebhook', { ...head, kubeConfigFile }),
      'ValidatingAdmissionWebhook',
    );
    const identityOf = identityIn(settings.validatingHookUsers);
    const tokens = ['a.test:8443', 'c.test:8443', 'b.test:443', 'c.test:443'].map(
      (host) => identityOf(host).headers['authorization'],
    );
    assert.deepEqual(tokens, ['Bearer a.test:8443', 'Bearer *.test:8443', 'Bearer b.test', 'Bearer *']);
    const current = identityIn(
      load(
        plugin('MutatingAdmissionWebhook', {
          ...head,
          kubeConfigFile: file('current.yaml', {
            users: users(['me']),
            contexts: [{ name: 'x', context: { user: 'me' } }],
            'current-context': 'x',
          }),
        }),
        'MutatingAdmissionWebhook',
      ).mutatingHookUsers,
    );
    assert.deepEqual(current('any:1').headers, { authorization: 'Bearer me' });
    assert.deepEqual(identityIn(undefined)('any:1').headers, {});
    const gone = { users: [{ name: '*', user: { tokenFile: '/nowhere/token' } }] };
    const lost = load(
      plugin('MutatingAdmissionWebhook', { ...head, kubeConfigFile: file('lost.yaml', gone) }),
      'MutatingAdmissionWebhook',
    );
    assert.throws(
      () => identityIn(lost.mutatingHookUsers)('any:1'),
      /^Error: open \/nowhere\/token: no such file or directory$/,
    );
    assert.match(
      refused(plugin('MutatingAdmissionWebhook', { ...head, kubeConfigFile: 'here' }), 'MutatingAdmissionWebhook'),
      /kubeConfigFile: Invalid value: "here": must be an absolute file path$/,
    );
  });
});

describe('a part of a JSON text', () => {
  for (const [text, at, expected] of [
    ['{"a": {"b" : [1, {"c":"}"}] }}', ['a', 'b', 1], '{"c":"}"}'],
    ['{"a":1,"a":[ 2 ]}', ['a'], '[ 2 ]'],
    ['[true, "x\\"]", null]', [1], '"x\\"]"'],
    ['[true, null]', [1], 'null'],
    ['{"a":1}', ['b'], undefined],
    ['[1]', [3], undefined],
  ] as const) {
    it(`${at.join('.')} of ${text}`, () => assert.equal(jsonSlice(text, at), expected));
  }
});

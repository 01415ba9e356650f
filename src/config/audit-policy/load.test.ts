import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadAuditPolicy, parseAuditPolicy } from './load.js';

const HEAD = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';
const errorOf = (text: string): string => {
  const parsed = parseAuditPolicy(text);
  return parsed.ok ? '' : parsed.error;
};

test('unknown and duplicate fields are ignored, and logged', () => {
  const parsed = parseAuditPolicy(`${HEAD}surplus: 1\nrules:\n- level: Metadata\n  level: Request\n`);
  assert.ok(parsed.ok);
  assert.equal(parsed.policy.rules?.[0]?.level, 'Request');
  assert.equal(parsed.strictErrors.length, 2);
});

test('a file must say what it is, and be that', () => {
  const unsaid = 'unknown group version field audit.k8s.io/__internal, Kind=Policy in policy';
  assert.equal(errorOf(''), unsaid);
  assert.equal(errorOf('rules: [{level: None}]'), unsaid);
  assert.match(
    errorOf('apiVersion: audit.k8s.io/v1beta1\nkind: Policy'),
    /^failed decoding: no kind "Policy" is registered/,
  );
  assert.match(errorOf('apiVersion: audit.k8s.io/v1\nkind: Event'), /converting \(v1\.Event\) to \(audit\.Policy\)/);
  assert.match(
    errorOf('text'),
    /^failed decoding: couldn't get version\/kind; json parse error: json: cannot unmarshal string/,
  );
  assert.equal(errorOf(HEAD), 'loaded illegal policy with 0 rules');
});

test('what begins with a brace is JSON or nothing', () => {
  const json = JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'None' }] });
  assert.equal(errorOf(json), '');
  for (const [broken, why] of [
    [json.replaceAll('"', ''), /^invalid character 'a'/],
    [json.slice(0, -1), /^unexpected end of JSON input$/],
    [`${json} x`, /^invalid character 'x' after top-level value$/],
  ] as const) {
    const [said, words] = errorOf(broken).split(/(?<=json parse error: )/);
    assert.equal(said, "failed decoding: couldn't get version/kind; json parse error: ");
    assert.match(words ?? '', why);
  }
});

test('all errors are reported together', () => {
  const text = `${HEAD}omitStages: [Start]\nrules:\n- nonResourceURLs: [x, /a*b]\n  namespaces: [ns]\n- level: All\n  resources: [{group: a/b, resourceNames: [one]}]\n`;
  const error = errorOf(text);
  for (const part of [
    'omitStages[0]: Invalid value: "Start": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic',
    'rules[0].level: Required value',
    'rules[0].nonResourceURLs[0]: Invalid value: "x": non-resource URL rules must begin with a \'/\' character',
    'rules[0].nonResourceURLs[1]: Invalid value: "/a*b": non-resource URL wildcards \'*\' must be the final character of the rule',
    'rules[0].nonResourceURLs: Invalid value: ["x","/a*b"]: rules cannot apply to both regular resources and non-resource URLs',
    'rules[1].level: Unsupported value: "All": supported values: "None", "Metadata", "Request", "RequestResponse"',
    'rules[1].resources.group: Invalid value: "a/b"',
    'rules[1].resources.resourceNames: Invalid value: ["one"]: using resourceNames requires at least one resource',
  ]) {
    assert.ok(error.includes(part), part);
  }
});

test('a file that is not there is named', () => {
  assert.deepEqual(loadAuditPolicy('/no/such'), {
    ok: false,
    error: 'loading audit policy file: failed to read file path "/no/such": open /no/such: no such file or directory',
  });
});

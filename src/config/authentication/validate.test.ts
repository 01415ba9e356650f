import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticationCompiler } from '../../cel/environments/authentication.js';
import { fieldErrorText } from '../../machinery/field-error.js';
import { decodeAuthentication } from './load.js';
import { validateAuthentication } from './validate.js';
import type { AuthenticationGate } from './validation-context.js';

const features = { enabled: () => true };
const compiler = authenticationCompiler({ compatibility: { major: 1, minor: 34 }, features });

function mistakes(jwt: object[], { off, disallowed = [] }: { off?: AuthenticationGate; disallowed?: string[] } = {}) {
  const text = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt });
  const { errors } = validateAuthentication(decodeAuthentication(text), {
    compiler,
    features: { enabled: (gate) => gate !== off },
    disallowedIssuers: disallowed,
  });
  return errors.map(fieldErrorText);
}
const issuer = { url: 'https://a.test', audiences: ['a'] };
const claimMappings = { username: { claim: 'sub', prefix: '' } };

test('a whole configuration is fine', () => {
  assert.deepEqual(
    mistakes([
      {
        issuer: { ...issuer, discoveryURL: 'https://b.test/x' },
        claimMappings: {
          username: { expression: 'claims.email_verified == true ? claims.email : claims.sub' },
          groups: { expression: 'dyn(claims.roles).map(r, "x:" + r)' },
          uid: { claim: 'oid' },
          extra: [{ key: 'example.test/a', valueExpression: 'claims.?a.orValue("")' }],
        },
        claimValidationRules: [
          { claim: 'hd', requiredValue: 'a' },
          { expression: 'has(claims.x)', message: 'x' },
        ],
        userValidationRules: [{ expression: '!user.groups.exists(g, g.startsWith("system:"))' }],
      },
    ]),
    [],
  );
});

test('all errors are reported at once', () => {
  assert.deepEqual(
    mistakes([
      { issuer: { url: 'http://u@a.test?x#y', audiences: ['a', 'a'] }, claimMappings: { username: { claim: 'sub' } } },
    ]),
    [
      ...['URL scheme must be https', 'URL must not contain a username or password', 'URL must not contain a query']
        .concat('URL must not contain a fragment')
        .map((why) => `jwt[0].issuer.url: Invalid value: "http://u@a.test?x#y": ${why}`),
      'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ],
  );
});

test('an address is no name before it is verified, wherever it is looked at', () => {
  const by = (username: string, more: object = {}) =>
    mistakes([{ issuer, claimMappings: { username: { expression: username } }, ...more }]).length;
  assert.equal(by('claims.email'), 1);
  assert.equal(by('claims.?email.orValue("x")'), 1);
  assert.equal(by('{"a": claims.email}["a"]'), 1);
  assert.equal(by('[1].map(x, claims.email)[0]'), 1);
  assert.equal(
    by('claims.email', { claimValidationRules: [{ expression: 'claims.?email_verified.orValue(false) == true' }] }),
    0,
  );
  const withPrefix = { username: { expression: 'claims.email', prefix: 'x' } };
  assert.deepEqual(
    mistakes([{ issuer, claimMappings: withPrefix }]),
    ['jwt[0].claimMappings.username.prefix: Invalid value: "x": may not be specified when expression is set'],
    'what is wrong in itself is not looked into',
  );
});

test('the issuers of service-account tokens are nobody else’s, and gates hold', () => {
  assert.deepEqual(mistakes([{ issuer, claimMappings }], { disallowed: ['https://z.test', 'https://a.test'] }), [
    'jwt[0].issuer.url: Invalid value: "https://a.test": URL must not overlap with disallowed issuers: [https://a.test https://z.test]',
  ]);
  assert.deepEqual(
    mistakes([{ issuer: { ...issuer, egressSelectorType: 'cluster' }, claimMappings }], {
      off: 'StructuredAuthenticationConfigurationEgressSelector',
    }).length,
    1,
  );
});

test('a file of another kind is refused by its name', () => {
  const other = (apiVersion: string, kind: string) => () => decodeAuthentication(JSON.stringify({ apiVersion, kind }));
  const group = 'apiserver.config.k8s.io';
  for (const [apiVersion, kind, now = kind] of [
    [`${group}/v1`, 'AuthorizationConfiguration'],
    [`${group}/v1beta1`, 'TracingConfiguration'],
    ['apiserver.k8s.io/v1alpha1', 'EgressSelectorConfiguration'],
    ['v1', 'EncryptionConfig', 'EncryptionConfiguration'],
  ] as const) {
    assert.throws(other(apiVersion, kind), { message: `expected AuthenticationConfiguration, got *apiserver.${now}` });
  }
  assert.throws(
    other(`${group}/v1beta1`, 'EncryptionConfiguration'),
    /no kind "EncryptionConfiguration" is registered/,
  );
});

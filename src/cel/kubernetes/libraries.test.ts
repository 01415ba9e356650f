import assert from 'node:assert/strict';
import { test } from 'node:test';
import { baseEnvironments } from '../environments/base.js';
import { STRING } from '../type.js';
import { CelError, CelList, type Value } from '../value.js';
import type { AuthorizationAttributes } from '../../machinery/access.js';
import { AUTHORIZER, AuthorizerValue } from './authorizer.js';

const environment = baseEnvironments({
  compatibility: { major: 1, minor: 34 },
  features: { enabled: () => true },
}).of(true);

function evaluate(expression: string): unknown {
  const checked = environment.compile(expression);
  assert.equal(checked.issues, undefined, expression);
  const program = checked.issues === undefined ? checked.plan() : undefined;
  assert.ok(program !== undefined);
  return program instanceof CelError ? plain(program) : plain(program.evaluate({}).value);
}

function plain(value: Value): unknown {
  if (value instanceof CelError) return `error: ${value.message}`;
  return value instanceof CelList ? Array.from(value, plain) : value;
}

function all(expected: Readonly<Record<string, unknown>>): void {
  for (const [expression, value] of Object.entries(expected)) {
    assert.deepEqual(evaluate(expression), value, expression);
  }
}

test('quantities', () => {
  all({
    'isQuantity("1.3Gi")': true,
    'isQuantity("1.3GiB")': false,
    'quantity("50Mi") == quantity("52428800")': true,
    'quantity("500m").compareTo(quantity("1"))': -1n,
    'quantity("50k").add(20) == quantity("50020")': true,
    'quantity("50k").sub(quantity("20")).asInteger()': 49980n,
    'quantity("50.5k").asApproximateFloat()': 50500,
    'quantity("0.5").isInteger()': false,
    'quantity("0.5").asInteger()': 'error: cannot convert value to integer',
    'sign(quantity("-1"))': -1n,
    'quantity("1000m").isInteger() || quantity("1Ei").isInteger() || quantity("0.0").isInteger()': false,
    'quantity("1Ei").add(1).asInteger()': 'error: cannot convert value to integer',
    'quantity("3k").sub(1).asInteger()': 2999n,
    'quantity("1m").add(quantity("1.5")).asApproximateFloat()': 1.5010000000000001,
    'quantity("1").sub(-9223372036854775808).asInteger()': -9223372036854775807n,
    'quantity("0").add(1) == quantity("1")': true,
    'quantity("1") == quantity("0").add(1)': 'error: no such overload',
    'quantity("1").add(dyn(null)) == quantity("1")': 'error: no such overload: add(kubernetes.Quantity, null_type)',
    'dyn(1).isInteger()': 'error: no such overload: isInteger(int)',
    'quantity("x")':
      "error: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
  });
});

test('what a library adds does not survive an optional that is chosen by a condition or read by a name', () => {
  const lost = (go: string): string => `error: unsupported conversion to ref.Val: ${go}`;
  all({
    'optional.of("1Gi").optMap(x, quantity(x)).orValue(quantity("0")).isInteger()': lost('(*resource.Quantity)1Gi'),
    '[optional.of(ip("1.2.3.4"))].map(x, x.value().family())': lost('(netip.Addr)1.2.3.4'),
    'optional.of("::/0").optMap(x, cidr(x)).value().prefixLength()': lost('(netip.Prefix)::/0'),
    'optional.of("1.2.3-a.1+b").optMap(x, semver(x)).value().major()': lost('(semver.Version)1.2.3-a.1+b'),
    'optional.of("http://a").optMap(x, url(x)).value().getHost()': lost('(*url.URL)http://a'),
    'optional.of("1Gi").optMap(x, quantity(x)).hasValue()': true,
    '[optional.of(quantity("1"))][0].value().isInteger()': true,
    'optional.of(1).optMap(x, type(x)).value() == dyn("int")': true,
    'optional.of(1).optMap(x, optional.of(x)).value() == dyn(1)': true,
  });
});

test('an optional may hold null', () => {
  all({ 'optional.of(null).value()': null, '{"a": null}.?a.optMap(x, x).hasValue()': true });
});

test('addresses and blocks', () => {
  all({
    'ip("127.0.0.1").isLoopback()': true,
    'ip("2001:db8::68").family()': 6n,
    'ip("fe80::1").isLinkLocalUnicast()': true,
    'ip("ff02::1").isLinkLocalMulticast()': true,
    'ip("255.255.255.255").isGlobalUnicast()': false,
    'ip.isCanonical("2001:DB8::68")': false,
    'isIP("::ffff:1.2.3.4")': false,
    'string(ip("2001:db8:0:0::1"))': '2001:db8::1',
    'ip("1.2.3")':
      'error: IP Address "1.2.3" parse error during conversion from string: ParseAddr("1.2.3"): IPv4 address too short',
    'cidr("192.168.0.0/24").containsIP("192.168.0.9")': true,
    'cidr("192.168.0.0/24").containsCIDR(cidr("192.168.0.0/23"))': false,
    'cidr("192.168.0.7/24").masked() == cidr("192.168.0.0/24")': true,
    'string(cidr("::1/64").masked())': '::/64',
    'cidr("192.168.0.7/24").ip() == ip("192.168.0.7")': true,
    'cidr("10.0.0.0/8").prefixLength()': 8n,
    'type(ip("::1")) == net.IP': true,
  });
});

test('URLs', () => {
  all({
    'url("https://u@[::1]:80/a b?x=1&x=2#f").getHostname()': '::1',
    'url("https://example.com:80/a b").getEscapedPath()': '/a%20b',
    'url("https://example.com/?x=1&x=a+b").getQuery()["x"]': ['1', 'a b'],
    'url("https://example.com").getPort()': '',
    'isURL("example.com/x")': false,
    'url("x")': 'error: URL parse error during conversion from string: parse "x": invalid URI for request',
  });
});

test('lists, regular expressions and versions', () => {
  all({
    '["a", "b", "b"].isSorted()': true,
    '[2.0, 1.0].isSorted()': false,
    '[dyn(1), dyn(null)].isSorted()': 'error: no such overload',
    '[dyn(1), dyn(null)].min()': 'error: no such overload',
    '[duration("1m"), duration("1s")].sum() == duration("61s")': true,
    '[1, 3].max()': 3n,
    '[0].filter(x, x > 0).min()': 'error: min called on empty list',
    '["a", "b", "b"].lastIndexOf("b")': 2n,
    '"123 abc 456".findAll("[0-9]+", 1)': ['123'],
    '"abc".findAll("a*")': ['a', '', ''],
    '"abc".find("[0-9]+")': '',
    'semver("1.0.0-rc.1").isLessThan(semver("1.0.0"))': true,
    'semver("v1.2", true).minor()': 2n,
    'isSemver("1.2")': false,
  });
});

test('named formats', () => {
  all({
    'format.dns1123Label().validate("Bad").value()[0].contains("RFC 1123")': true,
    'format.named("uuid").value().validate("x").value()': ['does not match the UUID format'],
    'format.named("nothing").hasValue()': false,
    'format.labelValue().validate("ok").hasValue()': false,
  });
});

test('the authorizer is called with the attributes that were built', () => {
  const checks: AuthorizationAttributes[] = [];
  const authorizer = new AuthorizerValue({ name: 'me', groups: [] }, (question) => {
    checks.push(question);
    return { allowed: question.verb === 'get', reason: 'because' };
  });
  const checked = environment
    .extend({ variables: { authorizer: AUTHORIZER } })
    .compile(
      `authorizer.serviceAccount('ns', 'sa').group('apps').resource('deployments').namespace('ns').name('d')` +
        `.fieldSelector('a=b').check('get').allowed()`,
    );
  assert.equal(checked.issues, undefined);
  const program = checked.issues === undefined ? checked.plan() : undefined;
  assert.ok(program !== undefined && !(program instanceof CelError));
  const { value, cost } = program.evaluate({ authorizer });
  assert.equal(value, true);
  assert.ok(cost > 350_000);
  assert.deepEqual(checks, [
    {
      user: {
        name: 'system:serviceaccount:ns:sa',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      },
      apiGroup: 'apps',
      resource: 'deployments',
      subresource: '',
      namespace: 'ns',
      name: 'd',
      fieldSelector: [{ field: 'a', operator: '=', value: 'b' }],
      verb: 'get',
      resourceRequest: true,
      apiVersion: '*',
      path: '',
    },
  ]);
});

test('a pattern that would hold everything up stops the evaluation', () => {
  const expression = (name: string): string => `variable.${name}('([a-z]{1,900}[a-y]{1,900}){1,1}z0') != dyn(null)`;
  for (const name of ['matches', 'find', 'findAll']) {
    const checked = environment.extend({ variables: { variable: STRING } }).compile(expression(name));
    const program = checked.issues === undefined ? checked.plan() : undefined;
    assert.ok(program !== undefined && !(program instanceof CelError));
    const { value } = program.evaluate({ variable: `${'a'.repeat(100_000)}!z0` });
    assert.deepEqual(value, new CelError('operation cancelled: actual cost limit exceeded', 'cost-limit'));
  }
});

test('finding every match is left off where each looks at the whole text', () => {
  const checked = environment.extend({ variables: { variable: STRING } }).compile('variable.findAll("a*b|a").size()');
  const program = checked.issues === undefined ? checked.plan() : undefined;
  assert.ok(program !== undefined && !(program instanceof CelError));
  let polls = 0;
  const { value } = program.evaluate({ variable: 'a'.repeat(2_000) }, { interrupted: () => ++polls > 3 });
  assert.ok(value instanceof CelError && value.cancelled === 'interrupted');
  assert.equal(polls, 4);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineTopic } from './flag-table.js';
import { parseFlags } from './parse-flags.js';

const TOPIC = defineTopic({
  key: 'some',
  title: 'some',
  flags: {
    on: { type: 'bool', short: 'o', help: '' },
    v: { type: 'level', short: 'v', help: '' },
    count: { type: 'int', default: 3, help: '' },
    wait: { type: 'duration', default: 1000, help: '' },
    names: { type: 'strings', default: ['x'], help: '' },
    exact: { type: 'stringArray', help: '' },
    labels: { type: 'stringToString', help: '' },
    settings: { type: 'settings', help: '' },
    ports: { type: 'portRange', help: '' },
    'etcd-servers': { type: 'strings', help: '' },
    'old-name': { type: 'string', help: '', deprecated: 'use something else.' },
  },
});
const parse = (...argv: string[]) => parseFlags([TOPIC], argv);
const values = (...argv: string[]) => parse(...argv).values.some;
const refusal = (...argv: string[]) => {
  try {
    parse(...argv);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'accepted';
};

test('a value follows an equals sign or is the next word', () => {
  assert.equal(values('--count=4').count, 4);
  assert.equal(values('--count', '-4').count, -4);
  assert.equal(values('--wait', '1h0m1.5s').waitMs, 3601500);
});

test('a switch needs no value and does not consume the next word', () => {
  const { values: all, positional } = parse('--on', 'false');
  assert.equal(all.some.on, true);
  assert.deepEqual(positional, ['false']);
  assert.equal(values('--on=false').on, false);
});

test('shorthands may be combined and hold their value', () => {
  for (const words of [['-v', '4'], ['-v=4'], ['-v4'], ['-ov4'], ['-ov', '4']]) assert.equal(values(...words).v, 4);
});

test('two dashes end the flags', () => {
  assert.deepEqual(parse('--on', '--', '--count=9').positional, ['--count=9']);
});

test('a list is read as comma-separated values, replaces its default and grows with each use', () => {
  assert.deepEqual(values().names, ['x']);
  assert.deepEqual(values('--names=a,"b,c"', '--names=d').names, ['a', 'b,c', 'd']);
  assert.deepEqual(values('--names=').names, []);
  assert.equal(refusal('--names=\n'), 'invalid argument "\\n" for "--names" flag: EOF');
  assert.deepEqual(values('--exact=a,b', '--exact=c').exact, ['a,b', 'c']);
});

test('a lone pair may have commas in its key, several are separated by them', () => {
  assert.deepEqual(values('--labels=m,l=a').labels, { 'm,l': 'a' });
  assert.deepEqual(values('--labels=a=1,b=2').labels, { a: '1', b: '2' });
  assert.deepEqual(values('--settings=apps/v1=true,api/beta').settings, { 'apps/v1': 'true', 'api/beta': '' });
});

test('a port range has both its ends', () => {
  assert.deepEqual(values('--ports=30000-32767').ports, { base: 30000, size: 2768 });
  assert.deepEqual(values('--ports=80+2').ports, { base: 80, size: 3 });
});

test('words may be joined by underscores and begin with the neutral word', () => {
  const { values: all, setFlags } = parse('--kvstore_servers=http://a');
  assert.deepEqual(all.some.etcdServers, ['http://a']);
  assert.deepEqual([...setFlags], ['etcd-servers']);
});

test('a deprecated flag warns once', () => {
  assert.deepEqual(parse('--old-name=a', '--old-name=b').notices, [
    'Flag --old-name has been deprecated, use something else.',
  ]);
});

test('errors have the words of Go flags', () => {
  assert.equal(refusal('--nope=1'), 'unknown flag: --nope');
  assert.equal(refusal('-x'), "unknown shorthand flag: 'x' in -x");
  assert.equal(refusal('--count'), 'flag needs an argument: --count');
  assert.equal(refusal('-v'), "flag needs an argument: 'v' in -v");
  assert.equal(refusal('--=x'), 'bad flag syntax: --=x');
  assert.equal(
    refusal('--count=x'),
    'invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid syntax',
  );
  assert.equal(
    refusal('--count=9223372036854775808'),
    'invalid argument "9223372036854775808" for "--count" flag: strconv.ParseInt: parsing "9223372036854775808": value out of range',
  );
  assert.equal(
    refusal('-v', '-1'),
    'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax',
  );
  assert.equal(refusal('--wait=5'), 'invalid argument "5" for "--wait" flag: time: missing unit in duration "5"');
  assert.equal(
    refusal('--names=a"b'),
    'invalid argument "a\\"b" for "--names" flag: parse error on line 1, column 2: bare " in non-quoted-field',
  );
});

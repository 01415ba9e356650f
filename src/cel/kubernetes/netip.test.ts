import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masked, parseAddress, parsePrefix } from './netip.js';

const value = (text: string): string => {
  const read = parseAddress(text);
  return 'error' in read ? read.error : `${read.bits} ${read.value.toString(16)} ${read.zone}`.trim();
};

test('addresses are read strictly', () => {
  assert.equal(value('10.0.0.1'), '32 a000001');
  assert.equal(value('::1'), '128 1');
  assert.equal(value('2001:db8::'), '128 20010db8000000000000000000000000');
  assert.equal(value('::ffff:1.2.3.4'), '128 ffff01020304');
  assert.equal(value('fe80::1%eth0'), '128 fe800000000000000000000000000001 eth0');
});

test('errors have the words of Go', () => {
  const wrong: Record<string, string> = {
    '': 'ParseAddr(""): unable to parse IP',
    '010.0.0.1': 'ParseAddr("010.0.0.1"): IPv4 field has octet with leading zero',
    '1.2.3.256': 'ParseAddr("1.2.3.256"): IPv4 field has value >255',
    '1.2.3': 'ParseAddr("1.2.3"): IPv4 address too short',
    '1..2.3': 'ParseAddr("1..2.3"): IPv4 field must have at least one digit (at ".2.3")',
    '1:2': 'ParseAddr("1:2"): address string too short',
    '1:2::3::4': 'ParseAddr("1:2::3::4"): multiple :: in address (at ":4")',
    '12345::': 'ParseAddr("12345::"): each group must have 4 or less digits (at "12345::")',
    '1:2:3:4:5:6:7:8:9': 'ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9")',
    '::1%': 'ParseAddr("::1%"): zone must be a non-empty string',
  };
  for (const [text, why] of Object.entries(wrong)) assert.equal(value(text), why);
});

test('a prefix keeps its address; masking drops the bits behind it', () => {
  const prefix = parsePrefix('192.168.1.77/24');
  assert.ok('length' in prefix);
  assert.equal(prefix.length, 24);
  assert.equal(masked(prefix).address.value, 0xc0a80100n);
  assert.deepEqual(parsePrefix('10.0.0.0/33'), {
    error: 'netip.ParsePrefix("10.0.0.0/33"): prefix length out of range',
  });
  assert.deepEqual(parsePrefix('10.0.0.0/08'), {
    error: 'netip.ParsePrefix("10.0.0.0/08"): bad bits after slash: "08"',
  });
  assert.deepEqual(parsePrefix('10.0.0.0'), { error: `netip.ParsePrefix("10.0.0.0"): no '/'` });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cidrContains, cidrLast, cidrText, formatIp, ipText, parseCidr, parseIp } from './ip-address.js';

const text = (value: string): string | undefined => {
  const ip = parseIp(value);
  return ip === undefined ? undefined : ipText(ip);
};

test('addresses are encoded canonically', () => {
  assert.equal(text('10.0.0.1'), '10.0.0.1');
  assert.equal(text('2001:DB8:0:0:0:0:0:1'), '2001:db8::1');
  assert.equal(text('::'), '::');
  assert.equal(text('1:0:0:2:0:0:0:3'), '1:0:0:2::3');
  assert.equal(text('1:0:2:3:4:5:6:7'), '1:0:2:3:4:5:6:7');
  assert.equal(text('::ffff:1.2.3.4'), '1.2.3.4');
  assert.equal(text('64:ff9b::1.2.3.4'), '64:ff9b::102:304');
});

test('what is no address is none', () => {
  for (const value of [
    '',
    '1.2.3',
    '1.2.3.256',
    '1.2.3.4.5',
    '1::2::3',
    ':1:2',
    '1:2:3:4:5:6:7:8:9',
    'fe80::1%eth0',
    'a.b.c.d',
  ]) {
    assert.equal(parseIp(value), undefined, value);
  }
});

test('odd spellings are read and marked', () => {
  assert.equal(parseIp('010.001.0.1')?.leadingZeros, true);
  assert.equal(text('010.001.0.1'), '10.1.0.1');
  assert.equal(parseIp('::ffff:1.2.3.4')?.mapped, true);
});

test('blocks know their network, end and members', () => {
  const cidr = parseCidr('10.0.0.77/24');
  assert.ok(cidr);
  assert.equal(cidrText(cidr), '10.0.0.0/24');
  assert.equal(formatIp(4, cidrLast(cidr)), '10.0.0.255');
  const inside = parseIp('10.0.0.9');
  const outside = parseIp('10.0.1.9');
  assert.ok(inside && outside);
  assert.equal(cidrContains(cidr, inside), true);
  assert.equal(cidrContains(cidr, outside), false);
  assert.equal(parseCidr('10.0.0.0/33'), undefined);
  assert.equal(parseCidr('fd00::/129'), undefined);
  assert.equal(parseCidr('10.0.0.0'), undefined);
});

test('a mapped block of at least 96 bits is one of IPv4', () => {
  const cidr = parseCidr('::ffff:10.0.0.0/120');
  assert.ok(cidr);
  assert.equal(cidrText(cidr), '10.0.0.0/24');
});

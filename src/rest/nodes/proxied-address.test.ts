import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkProxiedAddress, checkProxiedHost } from './proxied-address.js';

test("nothing on the server's own machine or link is proxied to, however it is written", () => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '::', '0.0.0.0', '::ffff:127.0.0.1', '169.254.169.254']) {
    assert.throws(() => checkProxiedAddress(address), /address not allowed/, address);
  }
  for (const address of ['fe80::1', 'febf::1', 'ff02::1', '224.0.0.1', '239.1.1.1', '255.255.255.255', '', 'x']) {
    assert.throws(() => checkProxiedAddress(address), /address not allowed/, address);
  }
  for (const address of ['10.0.0.1', '192.168.0.1', '8.8.8.8', 'fd00::1', '2001:db8::1', 'fec0::1']) {
    checkProxiedAddress(address);
  }
});

test('a name is allowed when all it stands for is', async () => {
  await checkProxiedHost('node.test', async () => ['10.0.0.1', 'fd00::1']);
  await assert.rejects(
    checkProxiedHost('node.test', async () => ['10.0.0.1', '127.0.0.1']),
    /address not allowed/,
  );
  await assert.rejects(
    checkProxiedHost('node.test', () => Promise.reject(new Error('ENOTFOUND'))),
    /no such host/,
  );
});

// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHead } from './request-head.js';

const wantsUpgrade = (...lines: readonly string[]): boolean => {
  const head = parseHead([...lines, 'Host: h'].join('\r\n'));
  assert.ok('wantsUpgrade' in head, JSON.stringify(head));
  return head.wantsUpgrade;
};

test('a request wants to leave HTTP when it says so of its connection, also where it does not say for what', () => {
  const get = 'GET /x HTTP/1.1';
  assert.equal(wantsUpgrade(get, 'Connection: Upgrade', 'Upgrade: x/1'), true);
  assert.equal(wantsUpgrade(get, 'Connection: keep-alive, UPGRADE'), true);
  assert.equal(wantsUpgrade(get, 'Upgrade: websocket'), false);
  assert.equal(wantsUpgrade(get, 'Connection: keep-alive', 'Upgrade: websocket'), false);
});

test('one with a body wants to only for a WebSocket', () => {
  const body = ['Connection: Upgrade', 'Content-Length: 2'];
  assert.equal(wantsUpgrade('POST /x HTTP/1.1', ...body), false);
  assert.equal(wantsUpgrade('POST /x HTTP/1.1', ...body, 'Upgrade: h2c'), false);
  assert.equal(wantsUpgrade('GET /x HTTP/1.1', ...body), false);
  assert.equal(wantsUpgrade('GET /x HTTP/1.1', ...body, 'Upgrade: WebSocket'), true);
});

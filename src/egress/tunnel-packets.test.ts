import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closeRequest, data, dialClose, dialRequest, readPacket } from './tunnel-packets.js';

const NOTHING = { connectId: 0n, random: 0n, error: '', data: Buffer.alloc(0) };

test('packets are encoded as the konnectivity protocol has them', () => {
  const encoded = [dialRequest('a:1', 300n), dialClose(5n), closeRequest(7n), data(7n, Buffer.from('hi'))];
  assert.deepEqual(
    encoded.map((packet) => packet.toString('hex')),
    ['120d0a037463701203613a3118ac02', '08053a020805', '08022a020807', '0804220608071a026869'],
  );
});

test('packets of a proxy are read by their payload', () => {
  const received = [
    ['08011a050a016e1805', { type: 'DIAL_RSP', error: 'n', random: 5n }],
    ['08011a0410071805', { type: 'DIAL_RSP', connectId: 7n, random: 5n }],
    ['0804220608071a026869', { type: 'DATA', connectId: 7n, data: Buffer.from('hi') }],
    ['080332021007', { type: 'CLOSE_RSP', connectId: 7n }],
    ['08053a020805', { type: 'DIAL_CLS', random: 5n }],
    ['0806', { type: 'DRAIN' }],
    ['0863', { type: undefined }],
  ] as const;
  for (const [hex, expected] of received) {
    assert.deepEqual(readPacket(Buffer.from(hex, 'hex')), { ...NOTHING, ...expected });
  }
});

// runs-on: every-node
// How a watch over a WebSocket ends, byte for byte, when its client does.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import tls from 'node:tls';
import { startTestServer, type TestServer } from './support/server.js';

const NORMAL_END = Buffer.from([0x88, 2, 0x03, 0xe8]);
const HEAD = [
  'GET /api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dnone HTTP/1.1',
  'Host: localhost',
  'Origin: https://a.example.test',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: c2NlbmFyaW8tc2NlbmFyaQ==',
];

describe('a watch over a WebSocket', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
  });
  after(() => server.stop());

  /** What comes after the answer's head, once `leave` was done there. */
  async function ending(leave: (socket: tls.TLSSocket) => void): Promise<Buffer> {
    const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
    const socket = tls.connect({
      port: Number(new URL(server.url).port),
      host: '127.0.0.1',
      ca: pki('ca.crt'),
      cert: pki('admin.crt'),
      key: pki('admin.key'),
    });
    socket.write(`${HEAD.join('\r\n')}\r\n\r\n`);
    let text = Buffer.alloc(0);
    let isOpen = false;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      text = Buffer.concat([text, chunk]);
      if (isOpen || !text.includes('\r\n\r\n')) continue;
      isOpen = true;
      leave(socket);
    }
    return text.subarray(text.indexOf('\r\n\r\n') + 4);
  }

  it('is answered with a normal end when the client closes, whatever its close code', async () => {
    const mask = [0, 0, 0, 0];
    for (const said of [[3, 232], [3, 233, 0x67, 0x6f], [15, 160], []]) {
      const leave = Buffer.from([0x88, 0x80 | said.length, ...mask, ...said]);
      assert.deepEqual(await ending((socket) => socket.write(leave)), NORMAL_END);
    }
  });

  it('and when it only stops sending', async () => {
    assert.deepEqual(await ending((socket) => socket.end()), NORMAL_END);
  });
});

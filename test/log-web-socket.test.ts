// runs-on: every-node
// Logs over WebSockets, as pages in a browser read them.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { podOnKubelet } from './support/pod-on-kubelet.js';
import { startTestServer, type TestServer } from './support/server.js';

const LOG = 'x'.repeat(5000);

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

describe('a log over a WebSocket', { timeout: 60_000 }, () => {
  let server: TestServer;
  let kubelet: https.Server;
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    kubelet = https.createServer(
      { cert: pki('apiserver.crt'), key: pki('apiserver.key') },
      ({ url = '' }, response) => {
        if (!url.includes('previous')) return void response.end(LOG);
        response.writeHead(400).end('there was no container before');
      },
    );
    await podOnKubelet(server, kubelet);
  });
  after(async () => {
    kubelet.close();
    await server.stop();
  });

  const open = (protocols: string[], query = ''): WebSocket =>
    new WebSocket(`${server.url.replace('https', 'wss')}/api/v1/namespaces/default/pods/p/log${query}`, protocols, {
      ca: pki('ca.crt'),
      cert: pki('admin.crt'),
      key: pki('admin.key'),
    });
  const refusal = (socket: WebSocket): Promise<number> =>
    new Promise((resolve, reject) => {
      socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
      socket.on('open', () => reject(new Error('it was let in')));
    });

  it('is an empty message, then its bytes in pieces, and a good end', async () => {
    const socket = open(['other.k8s.io', 'binary.k8s.io']);
    const { messages, code } = await whole(socket);
    assert.equal(socket.protocol, 'binary.k8s.io');
    assert.equal(code, 1000);
    assert.ok(messages.every(({ isBinary }) => isBinary));
    assert.equal(messages[0]?.data.length, 0);
    assert.ok(messages.every(({ data }) => data.length <= 2048));
    assert.equal(Buffer.concat(messages.map(({ data }) => data)).toString(), LOG);
  });

  it('is text in base64 where that is requested', async () => {
    const { messages } = await whole(open(['base64.binary.k8s.io']));
    assert.ok(messages.every(({ isBinary }) => !isBinary));
    const pieces = messages.map(({ data }) => Buffer.from(data.toString(), 'base64'));
    assert.equal(Buffer.concat(pieces).toString(), LOG);
  });

  it('is refused to who speaks neither, and where there is no log', async () => {
    assert.equal(await refusal(open(['other.k8s.io'])), 403);
    assert.equal(await refusal(open(['binary.k8s.io'], '?previous=true')), 400);
    assert.equal(await refusal(open(['binary.k8s.io'], '?container=none')), 400);
  });
});

/** All that comes, and the code of the end. */
function whole(socket: WebSocket): Promise<{ messages: readonly Message[]; code: number }> {
  const messages: Message[] = [];
  socket.on('message', (data: Buffer, isBinary) => messages.push({ data, isBinary }));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => resolve({ messages, code }));
  });
}

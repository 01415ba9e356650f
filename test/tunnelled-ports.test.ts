// runs-on: every-node
// Ports of pods for clients that speak WebSocket: what they send in its messages goes to the kubelet as it is.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import tls from 'node:tls';
import { podOnKubelet } from './support/pod-on-kubelet.js';
import { startTestServer, type TestServer } from './support/server.js';

const PORTS = '/api/v1/namespaces/default/pods/p/portforward?ports=80';
const PROTOCOL = 'SPDY/3.1+portforward.k8s.io';
const [TEXT, BINARY] = [1, 2];

describe('a tunnelled port', { timeout: 60_000 }, () => {
  let server: TestServer;
  let kubelet: https.Server;
  let received = '';
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    kubelet = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') });
    kubelet.on('upgrade', (_request, socket: Duplex) => {
      socket.on('error', () => undefined);
      socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n',
      );
      socket.on('data', (bytes: Buffer) => {
        received += bytes.toString();
        socket.write(`echo ${bytes.toString()}`);
      });
    });
    await podOnKubelet(server, kubelet);
  });
  after(async () => {
    kubelet.closeAllConnections();
    kubelet.close();
    await server.stop();
  });

  /** Opens a tunnel by hand, since the library knows no protocols with a slash in their names. */
  async function open(version = 13): Promise<{ readonly socket: tls.TLSSocket; readonly head: string }> {
    const [ca, cert, key] = ['ca.crt', 'admin.crt', 'admin.key'].map(pki);
    const socket = tls.connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', ca, cert, key });
    const lines = [
      `GET ${PORTS} HTTP/1.1`,
      'Host: localhost',
      'Connection: Upgrade',
      'Upgrade: websocket',
      `Sec-WebSocket-Version: ${version}`,
      'Sec-WebSocket-Key: c2NlbmFyaW8tc2NlbmFyaQ==',
      `Sec-WebSocket-Protocol: ${PROTOCOL}`,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return { socket, head: await next(socket) };
  }
  const next = (socket: tls.TLSSocket): Promise<string> =>
    new Promise((resolve) => socket.once('data', (bytes: Buffer) => resolve(bytes.toString('latin1'))));
  const frame = (opcode: number, text: string): Buffer =>
    Buffer.concat([Buffer.from([0x80 | opcode, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]);

  it('carries bytes both ways, and no text', async () => {
    const { socket, head } = await open();
    assert.match(head, /^HTTP\/1\.1 101 /);
    socket.write(frame(BINARY, 'bytes'));
    assert.equal(await next(socket), '\x82\x0aecho bytes');
    socket.write(frame(TEXT, 'text'));
    assert.equal(await next(socket), '\x88\x02\x03\xe8');
    assert.equal(received, 'bytes');
    socket.destroy();
  });

  it('is opened by the one version of WebSocket that is spoken', async () => {
    const { socket, head } = await open(8);
    assert.match(head, /^HTTP\/1\.1 400 [^]*sec-websocket-version: 13[^]*\r\n\r\nBad Request\n$/i);
    socket.destroy();
  });
});

// runs: alone (the memory of a server is judged)
// runs-on: every-node
// What flows to and from nodes costs what its sockets cost: a large log, and many streams that stay open. By hand there may
// be more of both: BINNACLE_TEST_LOG_MIB=512, BINNACLE_TEST_STREAMS=1000.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { podOnKubelet } from './support/pod-on-kubelet.js';
import { residentMib } from './support/resident-memory.js';
import { startTestServer, type TestServer } from './support/server.js';

const PODS = '/api/v1/namespaces/default/pods';
const LOG_BYTES = Number(process.env['BINNACLE_TEST_LOG_MIB'] ?? 128) * 1024 * 1024;
const STREAMS = Number(process.env['BINNACLE_TEST_STREAMS'] ?? 200);
const PIECE = Buffer.alloc(64 * 1024, 'x');

describe('streams of nodes', { timeout: 180_000 }, () => {
  let server: TestServer;
  let kubelet: https.Server;
  const open = new Set<Duplex>();
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    kubelet = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') }, (_request, response) => {
      let sent = 0;
      const more = (): void => {
        while (sent < LOG_BYTES) {
          sent += PIECE.length;
          if (!response.write(PIECE)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    });
    kubelet.on('upgrade', (_request, socket: Duplex) => {
      open.add(socket.on('error', () => undefined));
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      socket.pipe(socket);
    });
    await podOnKubelet(server, kubelet);
  });
  after(async () => {
    for (const socket of open) socket.destroy();
    kubelet.close();
    await server.stop();
  });

  const call = (method: string, to: string, headers = {}) =>
    https.request(server.url + to, {
      method,
      headers,
      ca: pki('ca.crt'),
      cert: pki('admin.crt'),
      key: pki('admin.key'),
      agent: false,
    });

  it('a log of any length flows in constant memory', async (t) => {
    const beforeMib = residentMib(server.folder);
    let [received, highestMib] = [0, 0];
    await new Promise<void>((resolve, reject) => {
      call('GET', `${PODS}/p/log`)
        .on('error', reject)
        .on('response', (response: IncomingMessage) => {
          response.on('data', (piece: Buffer) => (received += piece.length)).on('end', resolve);
        })
        .end();
      const timer = setInterval(() => (highestMib = Math.max(highestMib, residentMib(server.folder))), 250);
      timer.unref();
      t.after(() => clearInterval(timer));
    });
    assert.equal(received, LOG_BYTES);
    t.diagnostic(
      `${LOG_BYTES / 1024 / 1024} MiB: ${beforeMib.toFixed(0)} MiB before, at most ${highestMib.toFixed(0)}`,
    );
    assert.ok(highestMib - beforeMib < 120, `it grew from ${beforeMib} to ${highestMib} MiB`);
  });

  it('hundreds of commands stay open at once, and each is answered', async (t) => {
    const beforeMib = residentMib(server.folder);
    const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    const begin = (): Promise<Duplex> =>
      new Promise((resolve, reject) => {
        call('POST', `${PODS}/p/exec?command=x&stdin=true&stdout=true`, headers)
          .on('error', reject)
          .on('response', (response: IncomingMessage) => reject(new Error(`${response.statusCode}`)))
          .on('upgrade', (_response: IncomingMessage, socket: Duplex) => resolve(socket))
          .end();
      });
    const streams: Duplex[] = [];
    while (streams.length < STREAMS) streams.push(...(await Promise.all(Array.from({ length: 20 }, begin))));
    const echoed = streams.map(
      (stream, i) =>
        new Promise<string>((resolve) => {
          stream.once('data', (bytes: Buffer) => resolve(bytes.toString()));
          stream.write(`hello ${i}`);
        }),
    );
    assert.deepEqual(
      await Promise.all(echoed),
      Array.from(streams, (_, i) => `hello ${i}`),
    );
    const perStreamKib = ((residentMib(server.folder) - beforeMib) * 1024) / STREAMS;
    t.diagnostic(`${STREAMS} streams: ${perStreamKib.toFixed(0)} KiB each`);
    assert.ok(perStreamKib < 400, `a stream takes ${perStreamKib} KiB`);
    for (const stream of streams) stream.destroy();
  });
});

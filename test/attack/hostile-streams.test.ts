// runs-on: every-node
// workers: one, it meters the process that it starts
// Streams to nodes whose client or whose kubelet is hostile: what one side is sent and does not read must not pile up
// here, and no message may take long to parse.
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it, type TestContext } from 'node:test';
import { pollUntil, settled } from '../../src/lib/testing/poll-until.js';
import { keptMib, longestTask } from '../support/longest-task.js';
import { podOnKubelet } from '../support/pod-on-kubelet.js';
import { startTestServer, type TestServer } from '../support/server.js';
import { serveSpdy } from '../support/spdy-server.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const PODS = '/api/v1/namespaces/default/pods';
const MAX_TASK_MS = 400;
const MAX_MIB = 30;
/** More than may pile up. */
const FLOOD_BYTES = 48 * 1024 * 1024;
const SWITCHED = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';

describe('hostile streams', { timeout: 180_000 }, () => {
  let server: TestServer;
  let kubelet: https.Server;
  /** What the kubelet does with a request to leave HTTP. */
  let answer: (socket: Duplex, head: Buffer) => void = () => undefined;
  const open = new Set<Duplex>();
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({
      flags: ['--disable-admission-plugins=ServiceAccount'],
      meterTasks: path.join(root, 'test', 'support', 'task-meter.cjs'),
    });
    kubelet = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') });
    kubelet.on('upgrade', (_request, socket: Duplex, head: Buffer) => {
      open.add(socket.on('error', () => undefined));
      answer(socket, head);
    });
    await podOnKubelet(server, kubelet);
  });
  after(async () => {
    for (const socket of open) socket.destroy();
    kubelet.closeAllConnections();
    kubelet.close();
    await server.stop();
  });

  function leaveHttp(to: string, headers: Record<string, string>): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      https
        .request(server.url + to, {
          headers: { connection: 'Upgrade', ...headers },
          ca: pki('ca.crt'),
          cert: pki('admin.crt'),
          key: pki('admin.key'),
          agent: false,
        })
        .on('error', reject)
        .on('response', (response: IncomingMessage) => {
          open.add(response.socket);
          reject(new Error(`${response.statusCode}`));
        })
        .on('upgrade', (_response: IncomingMessage, socket: Duplex) => {
          open.add(socket.on('error', () => undefined));
          resolve(socket);
        })
        .end();
    });
  }

  const openWebSocket = (to: string, protocol?: string): Promise<Duplex> =>
    leaveHttp(to, {
      upgrade: 'websocket',
      origin: 'https://a.example',
      'sec-websocket-version': '13',
      'sec-websocket-key': crypto.randomBytes(16).toString('base64'),
      ...(protocol !== undefined && { 'sec-websocket-protocol': protocol }),
    });

  /** How much more the server has in use when `attack` has lasted, and its longest task. */
  async function cost(t: TestContext, attack: () => Promise<void>): Promise<{ grownMib: number; longestMs: number }> {
    const beforeMib = await keptMib(server.folder);
    await longestTask(server.folder);
    await attack();
    const { longestMs } = await longestTask(server.folder);
    const grownMib = (await keptMib(server.folder)) - beforeMib;
    t.diagnostic(`grew by ${grownMib.toFixed(1)} MiB, longest task ${longestMs.toFixed(0)} ms`);
    for (const socket of open) socket.destroy();
    open.clear();
    return { grownMib, longestMs };
  }

  it('a refusal without end is passed on as fast as its client reads', async (t) => {
    let flooding: { readonly ended: Promise<void> } | undefined;
    answer = (socket) => {
      socket.write('HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n');
      flooding = { ended: flood(socket, Buffer.alloc(1024)) };
    };
    const { grownMib } = await cost(t, async () => {
      leaveHttp(`${PODS}/p/exec?command=x&stdout=true`, {
        upgrade: 'SPDY/3.1',
        'x-stream-protocol-version': 'v4.channel.k8s.io',
      }).catch(() => undefined);
      await (
        await pollUntil(() => flooding)
      ).ended;
    });
    assert.ok(grownMib < MAX_MIB, `it grew by ${grownMib} MiB`);
  });

  it('a client that does not read a refusal is left after some time', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\n\r\n');
      socket.end(Buffer.alloc(32 * 1024 * 1024));
    };
    const headers = { upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };
    await assert.rejects(leaveHttp(`${PODS}/p/exec?command=x&stdout=true`, headers), /500/);
    const streams = async (count: number): Promise<boolean> =>
      new RegExp(`subresource="exec".* ${count}$`, 'm').test((await server.request('GET', '/metrics')).body);
    await pollUntil(() => streams(1));
    await pollUntil(() => streams(0));
    for (const socket of open) socket.destroy();
  });

  it('sizes of a terminal that nobody reads do not pile up, and many in one message are no long task', async (t) => {
    answer = (socket, head) => {
      socket.write(`${SWITCHED}X-Stream-Protocol-Version: v5.channel.k8s.io\r\n\r\n`);
      serveSpdy(socket, head, ({ headers }) => {
        if (headers.get('streamtype') === 'resize') socket.pause();
      });
    };
    const { grownMib, longestMs } = await cost(t, async () => {
      const command = `${PODS}/p/exec?command=x&stdin=true&stdout=true&tty=true`;
      const [one, other] = [
        await openWebSocket(command, 'v5.channel.k8s.io'),
        await openWebSocket(command, 'v5.channel.k8s.io'),
      ];
      one.resume();
      other.resume();
      one.write(frame(BINARY, Buffer.from(`\x04${'{"Width":1}\n'.repeat(500_000)}`)));
      await flood(other, frame(BINARY, Buffer.from('\x04{"Width":1,"Height":2}')));
    });
    assert.ok(longestMs < MAX_TASK_MS, `a task of ${longestMs} ms`);
    assert.ok(grownMib < MAX_MIB, `it grew by ${grownMib} MiB`);
  });

  it('pings of a WebSocket whose client does not read are not answered without end', async (t) => {
    const { grownMib } = await cost(t, async () => {
      const client = await openWebSocket('/api/v1/namespaces?watch=true');
      client.pause();
      await flood(client, frame(PING, Buffer.alloc(125)));
    });
    assert.ok(grownMib < MAX_MIB, `it grew by ${grownMib} MiB`);
  });

  it('a message in very many pieces that a watch does not want is not kept', async (t) => {
    const { grownMib } = await cost(t, async () => {
      const client = await openWebSocket('/api/v1/namespaces?watch=true');
      client.resume();
      client.write(frame(BINARY, Buffer.from('x'), false));
      await flood(client, frame(CONTINUED, Buffer.from('x'), false));
    });
    assert.ok(grownMib < MAX_MIB, `it grew by ${grownMib} MiB`);
  });

  it("a kubelet's pings are answered as fast as it reads", async (t) => {
    let flooding: { readonly ended: Promise<void> } | undefined;
    answer = (socket, head) => {
      socket.write(`${SWITCHED}X-Stream-Protocol-Version: v5.channel.k8s.io\r\n\r\n`);
      serveSpdy(socket, head, ({ headers }) => {
        if (headers.get('streamtype') !== 'stdout') return;
        socket.pause();
        flooding = { ended: flood(socket, Buffer.from([0x80, 3, 0, 6, 0, 0, 0, 4, 0, 0, 0, 2])) };
      });
    };
    const { grownMib } = await cost(t, async () => {
      const client = await openWebSocket(`${PODS}/p/exec?command=x&stdout=true`, 'v5.channel.k8s.io');
      client.resume();
      await (
        await pollUntil(() => flooding)
      ).ended;
    });
    assert.ok(grownMib < MAX_MIB, `it grew by ${grownMib} MiB`);
  });
});

const CONTINUED = 0;
const BINARY = 2;
const PING = 9;

/** A frame as clients send it; masked with zeros, which changes nothing. */
function frame(opcode: number, payload: Buffer, isLast = true): Buffer {
  const { length } = payload;
  const first = opcode + (isLast ? 0x80 : 0);
  const extended = Buffer.alloc(8);
  if (length < 126) return Buffer.concat([Buffer.from([first, 0x80 + length, 0, 0, 0, 0]), payload]);
  extended.writeBigUInt64BE(BigInt(length));
  return Buffer.concat([Buffer.from([first, 0x80 + 127]), extended, Buffer.alloc(4), payload]);
}

/** Sends it over and over, as fast as it is read, until it was enough or nobody reads any more. */
async function flood(socket: Duplex, piece: Buffer): Promise<void> {
  const many = Buffer.concat(Array.from({ length: Math.ceil((256 * 1024) / piece.length) }, () => piece));
  let bytes = 0;
  const more = (): void => {
    if (socket.destroyed || bytes >= FLOOD_BYTES) return;
    bytes += many.length;
    if (socket.write(many)) setImmediate(more);
    else socket.once('drain', more);
  };
  more();
  await settled(() => bytes);
}

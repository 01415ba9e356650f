// runs-on: every-node
// Commands of clients that speak WebSocket to a kubelet that speaks SPDY: how the ending of one side reaches the other.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { podOnKubelet } from './support/pod-on-kubelet.js';
import { startTestServer, type TestServer } from './support/server.js';
import { type AgentStream, serveSpdy } from './support/spdy-server.js';

const COMMAND = '/api/v1/namespaces/default/pods/p/exec?command=x&stdin=true&stdout=true';
const PROTOCOL = 'v5.channel.k8s.io';
const STREAMS = 3;

interface Command {
  readonly client: WebSocket;
  readonly kubelet: Duplex;
  readonly streams: ReadonlyMap<string, AgentStream>;
}

describe('a translated command', { timeout: 60_000 }, () => {
  let server: TestServer;
  let kubelet: https.Server;
  let begun: (command: Omit<Command, 'client'>) => void = () => undefined;
  let headersSent: readonly string[] = [];
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    kubelet = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') });
    kubelet.on('upgrade', ({ rawHeaders }, socket: Duplex, head: Buffer) => {
      headersSent = rawHeaders;
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${PROTOCOL}\r\n\r\n`,
      );
      const streams = new Map<string, AgentStream>();
      serveSpdy(socket, head, (stream) => {
        streams.set(
          stream.headers.get('streamtype') ?? '',
          stream.on('error', () => undefined),
        );
        if (streams.size === STREAMS) begun({ kubelet: socket, streams });
      });
    });
    await podOnKubelet(server, kubelet);
  });
  after(async () => {
    kubelet.closeAllConnections();
    kubelet.close();
    await server.stop();
  });

  async function begin(): Promise<Command> {
    const started = new Promise<Omit<Command, 'client'>>((resolve) => (begun = resolve));
    const client = new WebSocket(`${server.url.replace('https', 'wss')}${COMMAND}`, [PROTOCOL], {
      ca: pki('ca.crt'),
      cert: pki('admin.crt'),
      key: pki('admin.key'),
    });
    client.on('error', () => undefined);
    return { client, ...(await started) };
  }
  const event = (source: NodeJS.EventEmitter, name: string): Promise<void> =>
    new Promise((resolve) => void source.once(name, () => resolve()));

  it('that has ended ends the connection, whether the client answers or not', async () => {
    const { client, streams } = await begin();
    // Whoever does not read messages does not answer them.
    const socket = (client as unknown as { _socket: Duplex })._socket;
    socket.removeAllListeners('data');
    socket.resume();
    const ended = event(socket, 'end');
    streams.get('stdout')?.end();
    streams.get('error')?.end(JSON.stringify({ status: 'Success' }));
    await ended;
    client.terminate();
  });

  it('has the end of its input when the client closes, and may come to its end', async () => {
    const { client, kubelet: connection, streams } = await begin();
    const stdin = streams.get('stdin');
    assert.ok(stdin);
    const ended = event(stdin.resume(), 'end');
    client.close(1000);
    await ended;
    assert.equal(connection.destroyed, false);
    const over = event(connection, 'close');
    streams.get('stdout')?.end('nobody reads this');
    streams.get('error')?.end(JSON.stringify({ status: 'Success' }));
    await over;
  });

  it('has its streams canceled when the client is gone', async () => {
    const { client, kubelet: connection, streams } = await begin();
    const canceled = [...streams.values()].map((stream) => event(stream, 'close'));
    const over = event(connection, 'close');
    client.terminate();
    await Promise.all([...canceled, over]);
  });

  it('whose kubelet is gone without a word counts as having ended well', async () => {
    const { client, kubelet: connection } = await begin();
    const status = new Promise<string>((resolve) => {
      client.on('message', (message: Buffer) => message[0] === 3 && resolve(message.subarray(1).toString()));
    });
    connection.destroy();
    assert.deepEqual(JSON.parse(await status), { metadata: {}, status: 'Success' });
  });

  it('is left with a normal end, whatever the client says of its leave', async () => {
    const { client, streams } = await begin();
    const code = new Promise((resolve) => client.once('close', resolve));
    client.close(4000, 'enough');
    assert.equal(await code, 1000);
    streams.get('stdout')?.end();
    streams.get('error')?.end();
  });

  it('is over when what the client sends makes no sense, and what follows is ignored', async () => {
    const { client, streams } = await begin();
    let input = '';
    const stdin = streams.get('stdin');
    assert.ok(stdin);
    stdin.on('data', (bytes: Buffer) => (input += bytes.toString()));
    const ended = event(stdin, 'end');
    const code = new Promise((resolve) => client.once('close', resolve));
    client.send(Buffer.from([255, 9]));
    client.send(Buffer.from('\x00after'));
    assert.equal(await code, 1000);
    await ended;
    assert.equal(input, '');
  });

  it('gets any bytes to read, also those that a client calls text', async () => {
    const { client, streams } = await begin();
    const stdin = streams.get('stdin');
    assert.ok(stdin);
    const input = new Promise((resolve) => stdin.once('data', resolve));
    client.send(Buffer.from([0, 0xff, 0xfe]), { binary: false });
    assert.deepEqual(await input, Buffer.from([0xff, 0xfe]));
    client.terminate();
  });

  it('is requested with the headers of the client, and of kube-apiserver where it has none', async () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': [PROTOCOL, 'v4.channel.k8s.io'],
    };
    const identity = { ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
    const request = https.request(server.url + COMMAND, { ...identity, method: 'POST', headers, agent: false });
    const socket = await new Promise<Duplex>((resolve, reject) => {
      request.on('upgrade', (_response, connection: Duplex) => resolve(connection)).on('error', reject);
      request.end();
    });
    socket.destroy();
    const valuesOf = (name: string): string[] =>
      headersSent.filter((_, i) => headersSent[i - 1]?.toLowerCase() === name);
    assert.deepEqual(valuesOf('x-stream-protocol-version'), [PROTOCOL, 'v4.channel.k8s.io']);
    assert.deepEqual(valuesOf('user-agent'), ['Go-http-client/1.1']);
    const { client } = await begin();
    assert.deepEqual(valuesOf('user-agent'), ['Go-http-client/1.1']);
    client.terminate();
  });
});

// runs-on: every-node
// Commands of clients that speak WebSocket to an agent that speaks SPDY: how the ending of one side reaches the other.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { podOnAgent } from './support/pod-on-agent.js';
import { startTestServer, type TestServer } from './support/server.js';
import { type AgentStream, serveSpdy } from './support/spdy-server.js';

const COMMAND = '/api/v1/namespaces/default/pods/p/exec?command=x&stdin=true&stdout=true';
const PROTOCOL = 'v5.channel.k8s.io';
const STREAMS = 3;

interface Command {
  readonly client: WebSocket;
  readonly agent: Duplex;
  readonly streams: ReadonlyMap<string, AgentStream>;
}

describe('a translated command', { timeout: 60_000 }, () => {
  let server: TestServer;
  let agent: https.Server;
  let begun: (command: Omit<Command, 'client'>) => void = () => undefined;
  let asked: readonly string[] = [];
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));

  before(async () => {
    server = await startTestServer({ flags: ['--disable-admission-plugins=ServiceAccount'] });
    agent = https.createServer({ cert: pki('apiserver.crt'), key: pki('apiserver.key') });
    agent.on('upgrade', ({ rawHeaders }, socket: Duplex, head: Buffer) => {
      asked = rawHeaders;
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${PROTOCOL}\r\n\r\n`,
      );
      const streams = new Map<string, AgentStream>();
      serveSpdy(socket, head, (stream) => {
        streams.set(
          stream.headers.get('streamtype') ?? '',
          stream.on('error', () => undefined),
        );
        if (streams.size === STREAMS) begun({ agent: socket, streams });
      });
    });
    await podOnAgent(server, agent);
  });
  after(async () => {
    agent.closeAllConnections();
    agent.close();
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

  it('has the end of its input when the client takes its leave, and may come to its end', async () => {
    const { client, agent: connection, streams } = await begin();
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
    const { client, agent: connection, streams } = await begin();
    const canceled = [...streams.values()].map((stream) => event(stream, 'close'));
    const over = event(connection, 'close');
    client.terminate();
    await Promise.all([...canceled, over]);
  });

  it('whose agent is gone without a word counts as having ended well', async () => {
    const { client, agent: connection } = await begin();
    const told = new Promise<string>((resolve) => {
      client.on('message', (message: Buffer) => message[0] === 3 && resolve(message.subarray(1).toString()));
    });
    connection.destroy();
    assert.deepEqual(JSON.parse(await told), { metadata: {}, status: 'Success' });
  });

  it('is left with a normal end, whatever the client says of its leave', async () => {
    const { client, streams } = await begin();
    const code = new Promise((resolve) => client.once('close', resolve));
    client.close(4000, 'enough');
    assert.equal(await code, 1000);
    streams.get('stdout')?.end();
    streams.get('error')?.end();
  });

  it('is over when what the client sends makes no sense, and what follows is not taken', async () => {
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

  it('is given any bytes to read, also those that a client calls text', async () => {
    const { client, streams } = await begin();
    const stdin = streams.get('stdin');
    assert.ok(stdin);
    const input = new Promise((resolve) => stdin.once('data', resolve));
    client.send(Buffer.from([0, 0xff, 0xfe]), { binary: false });
    assert.deepEqual(await input, Buffer.from([0xff, 0xfe]));
    client.terminate();
  });

  it('is asked for in the words of the client, and of kube-apiserver where it has none', async () => {
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
    const told = (name: string): string[] => asked.filter((_, i) => asked[i - 1]?.toLowerCase() === name);
    assert.deepEqual(told('x-stream-protocol-version'), [PROTOCOL, 'v4.channel.k8s.io']);
    assert.deepEqual(told('user-agent'), ['Go-http-client/1.1']);
    const { client } = await begin();
    assert.deepEqual(told('user-agent'), ['Go-http-client/1.1']);
    client.terminate();
  });
});

// Whether faults happen at all: one that does nothing would find nothing.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { it } from 'node:test';
import { pollUntil } from '../../src/lib/testing/poll-until.js';
import { startTestServer } from '../support/server.js';
import { createEtcdNetwork, portOfPeer } from './etcd-network.js';

const DAY_MS = 86_400_000;

it('a shifted clock shows in what a running server writes', { timeout: 60_000 }, async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-clock-'));
  const clockFile = path.join(folder, 'clock');
  const server = await startTestServer({ clockFile });
  try {
    const ageMs = async (name: string): Promise<number> => {
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      const answer = await server.request('POST', '/api/v1/namespaces', body);
      const made = JSON.parse(answer.body) as { metadata: { creationTimestamp: string } };
      return Date.now() - Date.parse(made.metadata.creationTimestamp);
    };
    assert.ok((await ageMs('before')) < DAY_MS);
    fs.writeFileSync(clockFile, String(-3 * DAY_MS));
    process.kill(server.pid, 'SIGUSR2');
    let tried = 0;
    await pollUntil(async () => (await ageMs(`after-${tried++}`)) > 2 * DAY_MS);
  } finally {
    await server.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

it('members that are parted do not hear each other, servers reach both, and heal ends it', async () => {
  const network = createEtcdNetwork();
  const members = await Promise.all([0, 1, 2].map((member) => startMember(network, member)));
  const [first, second, third] = members as [Member, Member, Member];
  try {
    const call = (from: Member, to: Member): Promise<string> => ask(to.peerPort, `http://127.0.0.1:${from.peerPort}`);
    assert.equal(await call(first, second), 'member 1');
    network.partition(0);
    const silent = [call(first, second), call(second, first), call(third, first)];
    assert.equal(await call(second, third), 'member 2');
    assert.equal(await call(third, second), 'member 1');
    for (const member of members) assert.equal(await ask(member.clientPort), `member ${member.index}`);
    network.silenceClients(1);
    const silentClient = ask(second.clientPort);
    assert.equal(await ask(third.clientPort), 'member 2');
    network.heal();
    for (const asked of [...silent, silentClient]) await assert.rejects(asked, { code: 'ECONNRESET' });
    assert.equal(await call(first, second), 'member 1');
    assert.equal(await ask(second.clientPort), 'member 1');
  } finally {
    network.close();
    for (const { server } of members) server.close();
  }
});

it('a member is known by the address in its requests', () => {
  const head = 'POST /raft HTTP/1.1\r\nX-Server-From: 8e9e05c52164694d\r\nX-PeerURLs: http://127.0.0.1:4711\r\n\r\n';
  assert.equal(portOfPeer(Buffer.from(head)), 4711);
  assert.equal(portOfPeer(Buffer.from('GET /version HTTP/1.1\r\nHost: a\r\n\r\n')), 0);
});

interface Member {
  readonly index: number;
  readonly server: http.Server;
  readonly peerPort: number;
  readonly clientPort: number;
}

async function startMember(network: ReturnType<typeof createEtcdNetwork>, index: number): Promise<Member> {
  const server = http.createServer((_, response) => response.end(`member ${index}`));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    index,
    server,
    peerPort: await network.peerPort(index, port),
    clientPort: await network.clientPort(index, port),
  };
}

const ask = (port: number, peerUrl?: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = peerUrl === undefined ? {} : { 'X-PeerURLs': peerUrl };
    const request = http.get({ host: '127.0.0.1', port, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
  });

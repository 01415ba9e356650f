// runs-on: every-node
// Client configurations on real connections: programs that speak for users, and proxies on the way.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { Duplex } from 'node:stream';
import { after, before, describe, it } from 'node:test';
import { clientConfigOf, clientOf } from '../src/config/client-config.js';
import { parseKubeconfig } from '../src/config/kubeconfig.js';
import { generateKeys, issueCertificate, privateKeyPem } from '../src/lib/x509/issue-certificate.js';
import { directDialer } from '../src/outbound/dialer.js';
import { collectBody } from '../src/outbound/http-client.js';

describe('a client configuration', { timeout: 60_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'client-config-'));
  const tokens: (string | undefined)[] = [];
  const proxied: string[] = [];
  const keys = generateKeys();
  const subject = { commonName: 'hook' };
  const cert = issueCertificate({
    subject,
    publicKey: keys.publicKey,
    issuer: { subject, keys },
    use: 'authority',
    notBeforeMs: Date.now() - 60_000,
    notAfterMs: Date.now() + 3_600_000,
  });
  const server = https.createServer({ cert, key: privateKeyPem(keys.privateKey) }, (request, response) => {
    tokens.push(request.headers.authorization);
    response.statusCode = request.headers.authorization === 'Bearer token-1' ? 401 : 200;
    response.end('hello');
  });
  const pass = (request: http.IncomingMessage, socket: Duplex): void => {
    proxied.push(`CONNECT ${request.headers['proxy-authorization'] ?? ''}`);
    const [host = '', port] = (request.url ?? '').split(':');
    const onward = net.connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
  };
  const connectProxy = http.createServer().on('connect', pass);
  const secureProxy = https.createServer({ cert, key: privateKeyPem(keys.privateKey) }).on('connect', pass);
  const socksProxy = net.createServer((socket) => {
    let step = 0;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      step++;
      if (step === 1) return void socket.write(Buffer.from([5, bytes.includes(2, 2) ? 2 : 0]));
      if (step === 2 && bytes[0] === 1) {
        proxied.push(`SOCKS ${bytes.toString('latin1', 2, 6)}`);
        step--;
        return void socket.write(Buffer.from([1, 0]));
      }
      if (bytes[3] === 3 && bytes.toString('latin1', 5, 5 + (bytes[4] ?? 0)) === 'nowhere.test')
        return void socket.end(Buffer.from([5, 4, 0, 1, 0, 0, 0, 0, 0, 0]));
      socket.removeAllListeners('data');
      const onward = net.connect(bytes.readUInt16BE(8), '127.0.0.1', () => {
        socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 80]));
        socket.pipe(onward).pipe(socket);
      });
    });
  });
  const servers = [server, connectProxy, secureProxy, socksProxy];
  const portOf = (one: net.Server): number => (one.address() as AddressInfo).port;
  before(async () => {
    for (const one of servers) await new Promise<void>((resolve) => one.listen(0, '127.0.0.1', resolve));
  });
  after(() => {
    for (const one of servers) one.close();
    server.closeAllConnections();
    fs.rmSync(folder, { recursive: true });
  });

  const connect = async (cluster: string, user = ''): Promise<() => Promise<string>> => {
    const text = `
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
    const config = clientConfigOf(parseKubeconfig(text, path.join(folder, 'config')));
    const client = clientOf(config, directDialer);
    return async () => {
      const response = await client.request({ method: 'GET', url: config.server });
      return `${response.status} ${(await collectBody(response, 1000)).toString()}`;
    };
  };
  const at = (host = '127.0.0.1'): string =>
    `server: "https://${host}:${portOf(server)}", insecure-skip-tls-verify: true`;

  it('runs a program for a token, and again when the token is not believed', async () => {
    const script = path.join(folder, 'who');
    const status = `{\\"kind\\":\\"ExecCredential\\",\\"apiVersion\\":\\"client.authentication.k8s.io/v1\\",\\"status\\":{\\"token\\":\\"token-$(wc -l < ${folder}/runs)\\"}}`;
    fs.writeFileSync(script, `#!/bin/sh\necho run >> ${folder}/runs\necho "${status}"\n`, { mode: 0o755 });
    const exec = 'exec: {command: ./who, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}';
    const once = await connect(at(), exec);
    assert.equal(await once(), '401 hello');
    assert.equal(await once(), '200 hello');
    assert.equal(await once(), '200 hello');
    assert.deepEqual(tokens.splice(0), ['Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
    const broken = await connect(at(), exec.replace('./who', './absent'));
    await assert.rejects(broken(), { message: `getting credentials: exec: executable ${folder}/absent not found` });
  });

  it('goes through a proxy, by CONNECT or by SOCKS', async () => {
    const word = Buffer.from('me:word').toString('base64');
    for (const [proxy, seen] of [
      [`http://127.0.0.1:${portOf(connectProxy)}`, ['CONNECT ']],
      [`http://me:word@127.0.0.1:${portOf(connectProxy)}`, [`CONNECT Basic ${word}`]],
      [`https://127.0.0.1:${portOf(secureProxy)}`, ['CONNECT ']],
      [`socks5://127.0.0.1:${portOf(socksProxy)}`, []],
      [`socks5://user:word@127.0.0.1:${portOf(socksProxy)}`, ['SOCKS user']],
    ] as const) {
      const once = await connect(`${at()}, proxy-url: "${proxy}"`);
      assert.equal(await once(), '200 hello', proxy);
      assert.deepEqual(proxied.splice(0), seen);
    }
    const nowhere = await connect(`${at('nowhere.test')}, proxy-url: "socks5://127.0.0.1:${portOf(socksProxy)}"`);
    await assert.rejects(nowhere(), { message: 'socks connect: host unreachable' });
  });
});

// runs-on: every-node
// The secure port with real sockets: what goes in and out over HTTP/1.1 and HTTP/2.
import { silentLog } from '../src/lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import type http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { exposedCollector } from '../src/lib/scheduling/collector.js';
import type { HttpRequest, HttpResponse } from '../src/lib/http/http.js';
import { createLogs } from '../src/lib/telemetry/log.js';
import {
  ensureAdminCertificate,
  ensureAuthority,
  ensureSelfSignedCertificate,
  ensureServingCertificate,
} from '../src/server/listener/certificates.js';
import { listen, type Listener } from '../src/server/listener/listener.js';
import { loadServingCertificates } from '../src/server/listener/serving-certificates.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-listener-'));
const now = Date.now();
const authority = ensureAuthority(folder, now);
const serving = ensureServingCertificate(
  folder,
  authority,
  { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'] },
  now,
);
const admin = ensureAdminCertificate(folder, authority, now);
const other = ensureSelfSignedCertificate(
  path.join(folder, 'sni'),
  'other',
  { dnsNames: ['a.example.test'], ipAddresses: [] },
  now,
);
const third = ensureSelfSignedCertificate(
  path.join(folder, 'sni-third'),
  'third',
  { dnsNames: ['made.out.test'], ipAddresses: [] },
  now,
);
const log = silentLog;

let listener: Listener;
let handler: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;

before(async () => {
  const certificates = loadServingCertificates({
    serving,
    sni: [
      { ...other, names: ['*.example.test', '127.0.0.9'] },
      { ...third, names: ['requested.test'] },
    ],
    clientCaFiles: [authority.certFile],
    log,
  });
  listener = await listen({ address: '127.0.0.1', port: 0, certificates, handler: (r) => handler(r), log });
});
after(async () => {
  await listener.close(100);
  fs.rmSync(folder, { recursive: true });
});

const ok = (body: HttpResponse['body'], headers: HttpResponse['headers'] = {}): HttpResponse => ({
  status: 200,
  headers,
  body,
});

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

function connect(options: http2.SecureClientSessionOptions = {}): http2.ClientHttp2Session {
  return http2.connect(`https://127.0.0.1:${listener.port}`, { ca: authority.certPem, ...options });
}

function send(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: Buffer | string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers);
    const pieces: Buffer[] = [];
    let answer: http2.IncomingHttpHeaders = {};
    stream.on('response', (h) => (answer = h));
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () =>
      resolve({ status: Number(answer[':status']), headers: answer, body: Buffer.concat(pieces).toString() }),
    );
    stream.on('error', reject);
    stream.end(body);
  });
}

function ask1(options: https.RequestOptions, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = https.request(
      { host: '127.0.0.1', port: listener.port, ca: authority.certPem, agent: false, ...options },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(pieces).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

test('a request arrives as plain data over both protocols, with its body and its repeated headers', async () => {
  handler = async (r) => {
    const body = (await r.body(1000)).toString();
    const raw = r.rawHeaders ?? [];
    const groups = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]?.toLowerCase() === 'x-many');
    return ok(JSON.stringify([r.method, r.path, r.search, r.query.get('b'), r.httpVersion, groups, body]));
  };
  const session = connect();
  const two = await send(session, { ':method': 'POST', ':path': '/a%20b?b=1', 'x-many': ['x, y', 'z'] }, 'hello');
  session.close();
  assert.deepEqual(JSON.parse(two.body), ['POST', '/a%20b', 'b=1', '1', '2.0', ['x, y', 'z'], 'hello']);
  const one = await ask1({ method: 'POST', path: '/a%20b?b=1', headers: { 'x-many': ['x, y', 'z'] } }, 'hello');
  assert.deepEqual(JSON.parse(one.body), ['POST', '/a%20b', 'b=1', '1', '1.1', ['x, y', 'z'], 'hello']);
  assert.equal(one.headers['content-length'], String(one.body.length));
});

test('a body beyond the limit is refused with 413 and the connection stays usable for others', async () => {
  handler = async (r) => {
    try {
      await r.body(10);
      return ok('read');
    } catch (error) {
      return { status: (error as { code: number }).code, headers: {}, body: (error as Error).message };
    }
  };
  const session = connect();
  const refused = await send(session, { ':method': 'POST', ':path': '/' }, Buffer.alloc(200_000));
  assert.equal(refused.status, 413);
  assert.equal(refused.body, 'Request entity too large: limit is 10');
  assert.equal((await send(session, { ':method': 'POST', ':path': '/' }, 'small')).body, 'read');
  session.close();
  assert.equal((await ask1({ method: 'POST' }, 'x'.repeat(100_000))).status, 413);
});

test('a body that its client gives up half way cannot be read', async () => {
  let began = (): void => undefined;
  const failures: Promise<unknown>[] = [];
  handler = (r) => {
    const read = r.body(1000);
    failures.push(read.then(String, (error: { code: number; message: string }) => [error.code, error.message]));
    began();
    return read.then(() => ok(''));
  };
  for (const start of [startHalf2, startHalf1]) {
    const arrived = new Promise<void>((resolve) => (began = resolve));
    const abandon = start();
    await arrived;
    abandon();
  }
  assert.deepEqual(await Promise.all(failures), [
    [500, 'client disconnected'],
    [500, 'unexpected EOF'],
  ]);
});

test('a body that is not there when the time is over cannot be read, in the words of a socket', async () => {
  handler = (r) => {
    const read = r.body(1000).then(String, (error: Error) => error.message);
    r.cancel?.(new Error('time is over'));
    return read.then((said) => ok(said));
  };
  const request = https.request({ port: listener.port, ca: authority.certPem, host: '127.0.0.1', method: 'POST' });
  request.write('half');
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const { localPort } = response.socket;
  const said = await textOf(response);
  assert.equal(said, `read tcp 127.0.0.1:${listener.port}->127.0.0.1:${localPort}: i/o timeout`);
  request.destroy();
});

function startHalf2(): () => void {
  const session = connect();
  const stream = session.request({ ':method': 'POST', ':path': '/' });
  stream.on('error', () => undefined);
  stream.write('half');
  return () => session.destroy();
}

function startHalf1(): () => void {
  const request = https.request({ port: listener.port, ca: authority.certPem, host: '127.0.0.1', method: 'POST' });
  request.on('error', () => undefined);
  request.write('half');
  return () => request.destroy();
}

test('an answer in pieces waits for a slow client and ends when the client goes', async () => {
  let waited = 0;
  let ended: () => void;
  const gone = new Promise<void>((resolve) => (ended = resolve));
  handler = () =>
    ok({
      async stream(sink) {
        const piece = Buffer.alloc(64 * 1024, 'x');
        while (!sink.signal.aborted) {
          if (!sink.write(piece)) {
            waited++;
            await sink.drained();
          }
        }
        ended();
      },
    });
  const session = connect();
  const stream = session.request({ ':path': '/' });
  stream.on('error', () => undefined);
  await new Promise((resolve) => stream.once('data', resolve));
  stream.close(http2.constants.NGHTTP2_CANCEL);
  await gone;
  assert.ok(waited > 0);
  session.close();
});

test('HEAD answers the headers of GET, and a list of buffers is written in order', async () => {
  handler = () => ok([Buffer.from('one,'), Buffer.from('two')], { 'content-type': 'text/plain' });
  const session = connect();
  const head = await send(session, { ':method': 'HEAD', ':path': '/' });
  assert.equal(head.body, '');
  assert.equal(head.headers['content-type'], 'text/plain');
  assert.equal((await send(session, { ':path': '/' })).body, 'one,two');
  session.close();
  assert.equal((await ask1({})).body, 'one,two');
  assert.equal((await ask1({ method: 'HEAD' })).headers['content-length'], '7');
  handler = () => ok(undefined, { 'content-type': 'text/plain' });
  assert.equal((await ask1({ method: 'HEAD' })).headers['content-length'], undefined);
});

test('connection: close becomes GOAWAY on HTTP/2 after the answer is whole', async () => {
  handler = () => ok('x'.repeat(500_000), { connection: 'close' });
  const session = connect();
  const goaway = new Promise((resolve) => session.once('goaway', resolve));
  assert.equal((await send(session, { ':path': '/' })).body.length, 500_000);
  assert.equal(await goaway, 0);
});

test('the client certificate chain is there as DER, and absent without one', async () => {
  handler = (r) => ok(r.clientCertificates[0]?.toString('base64') ?? '');
  const session = connect({ cert: fs.readFileSync(admin.certFile), key: fs.readFileSync(admin.keyFile) });
  const leaf = new X509Certificate(fs.readFileSync(admin.certFile)).raw.toString('base64');
  assert.equal((await send(session, { ':path': '/' })).body, leaf);
  session.close();
  assert.equal((await ask1({})).body, '');
});

test('names and addresses choose the certificate shown', async () => {
  const shown = (options: tls.ConnectionOptions): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = tls.connect(
        { port: listener.port, host: '127.0.0.1', rejectUnauthorized: false, ...options },
        () => {
          const subject = String(socket.getPeerCertificate().subject?.CN);
          socket.destroy();
          resolve(subject.split('@')[0] ?? '');
        },
      );
      socket.on('error', reject);
    });
  assert.equal(await shown({ servername: 'b.example.test' }), 'other');
  assert.equal(await shown({ servername: 'c.b.example.test' }), 'kube-apiserver', 'a wildcard is one label');
  assert.equal(await shown({ servername: 'example.test' }), 'kube-apiserver');
  assert.equal(await shown({ servername: 'requested.test' }), 'third');
  assert.equal(await shown({ servername: 'made.out.test' }), 'third', 'the only one that is made out for it');
  assert.equal(await shown({}), 'kube-apiserver');
});

test('the suite that costs least is chosen: AES with short keys, but ChaCha where a client names it first', async () => {
  const chosen = async (options: tls.ConnectionOptions): Promise<string> => {
    const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca: authority.certPem, ...options });
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    const { standardName } = socket.getCipher();
    socket.destroy();
    return standardName;
  };
  const [chacha, long, short] = ['TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256'];
  assert.equal(await chosen({ ciphers: `${long}:${chacha}:${short}` }), short);
  assert.equal(await chosen({ ciphers: `${chacha}:${long}:${short}` }), chacha);
  const old = {
    maxVersion: 'TLSv1.2',
    ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256',
  } as const;
  assert.equal(await chosen(old), 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256');
});

test('an upgrade hands over the connection; one that is refused is answered like any request', async () => {
  handler = (r) => {
    if (r.path !== '/ok') return { status: 403, headers: {}, body: 'no' };
    r.upgrade?.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    r.upgrade?.socket.pipe(r.upgrade.socket);
    return { status: 101, headers: {}, body: undefined };
  };
  const raw = (target: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca: authority.certPem }, () => {
        socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`);
      });
      let text = '';
      socket.on('data', (piece: Buffer) => {
        text += piece.toString();
        if (text.endsWith('\r\n\r\n') && text.includes(' 101 ')) socket.end('ping');
        // The connection is still good for another request.
        if (text.endsWith('\r\n\r\nno')) socket.write('GET /nope HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      });
      socket.on('close', () => resolve(text));
    });
  assert.match(await raw('/ok'), /101 Switching Protocols[^]*ping$/);
  assert.match(await raw('/nope'), /^HTTP\/1.1 403 Forbidden[^]*noHTTP\/1.1 403 Forbidden[^]*no$/);
});

test('the body of a request for WebSockets is what comes first there; one that is refused is passed over', async () => {
  handler = ({ path: requested, upgrade, method }) => {
    if (upgrade === undefined || requested !== '/ok') return { status: 403, headers: {}, body: `no ${method}` };
    const { head, socket } = upgrade;
    socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head.toString()}`);
    return { status: 101, headers: {}, body: undefined };
  };
  const raw = (line: string, protocol = 'WebSocket'): Promise<string> =>
    new Promise((resolve) => {
      const head = `${line} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nContent-Length: 4\r\n\r\n`;
      const socket = tls.connect({ port: listener.port, host: '127.0.0.1', ca: authority.certPem }, () => {
        socket.write(`${head}ping${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      });
      let text = '';
      socket.on('data', (piece: Buffer) => (text += piece.toString()));
      socket.on('close', () => resolve(text));
    });
  assert.match(await raw('GET /ok'), /^HTTP\/1.1 101 [^]*\r\n\r\npingGET/);
  const twice = /^HTTP\/1.1 403 [^]*no [A-Z]+HTTP\/1.1 403 [^]*no [A-Z]+$/;
  assert.match(await raw('GET /nope'), twice);
  assert.match(await raw('POST /ok'), twice);
  assert.match(await raw('GET /ok', 'echo'), twice);
});

test('over HTTP/2 any method is a request, and what is no path is none', async () => {
  handler = ({ method, path: requested }) => ok(`${method} ${requested}`);
  const session = connect();
  assert.equal((await send(session, { ':method': 'BREW', ':path': '/pot' })).body, 'BREW /pot');
  assert.equal((await send(session, { ':method': 'OPTIONS', ':path': '*' })).body, 'OPTIONS *');
  const connected = session.request({ ':method': 'CONNECT', ':authority': 'example.test:443' });
  connected.setEncoding('utf8');
  let said = '';
  for await (const piece of connected) said += String(piece);
  assert.equal(said, 'CONNECT ');
  for (const bad of ['/%zz', '/%4', 'api']) {
    await assert.rejects(send(session, { ':method': 'GET', ':path': bad }), /NGHTTP2_PROTOCOL_ERROR/, bad);
  }
  assert.equal((await send(session, { ':path': '/' })).body, 'GET /');
  session.close();
});

test('over HTTP/2 as well 100 Continue is said only when the body is wanted', async () => {
  const statuses = (wanted: boolean): Promise<unknown[]> => {
    handler = async (r) => (wanted ? ok(await r.body(100)) : { status: 403, headers: {}, body: 'no' });
    return new Promise((resolve) => {
      const session = connect();
      const seen: unknown[] = [];
      const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
      stream.on('continue', () => {
        seen.push(100);
        stream.end('body');
      });
      stream.on('response', (headers) => seen.push(headers[':status']));
      stream.on('error', () => undefined);
      stream.resume();
      stream.on('close', () => {
        session.close();
        resolve(seen);
      });
    });
  };
  assert.deepEqual(await statuses(true), [100, 200]);
  assert.deepEqual(await statuses(false), [403]);
});

test('a connection that ends is said to with HTTP/1.1 only, one that stays with HTTP/1.0 only', async () => {
  handler = () => ok('fine');
  const connectionHeader = (version: string, connection: string): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const options = { port: listener.port, host: '127.0.0.1', ca: authority.certPem, ALPNProtocols: ['http/1.1'] };
      const socket = tls.connect({ ...options, checkServerIdentity: () => undefined }, () =>
        socket.write(`GET / HTTP/${version}\r\nHost: x\r\nConnection: ${connection}\r\n\r\n`),
      );
      let text = '';
      socket.on('error', reject);
      socket.on('data', (piece) => {
        text += piece.toString();
        if (!text.endsWith('fine')) return;
        socket.destroy();
        resolve(/^Connection: (.*)\r$/m.exec(text)?.[1]);
      });
    });
  assert.equal(await connectionHeader('1.0', 'close'), undefined);
  assert.equal(await connectionHeader('1.0', 'keep-alive'), 'keep-alive');
  assert.equal(await connectionHeader('1.1', 'close'), 'close');
  assert.equal(await connectionHeader('1.1', 'keep-alive'), undefined);
});

test('an idle connection keeps nothing of the pool that buffers are cut from', async () => {
  handler = () => ok('fine');
  const usual = Buffer.poolSize;
  Buffer.poolSize = 1024 ** 2;
  const collect = exposedCollector();
  const answered = async (): Promise<tls.TLSSocket> => {
    const options = { port: listener.port, host: '127.0.0.1', ca: authority.certPem };
    const socket = tls.connect({ ...options, checkServerIdentity: () => undefined });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    // The next connection finds another pool.
    for (let count = 0; count < 4; count++) Buffer.allocUnsafe(Buffer.poolSize / 4);
    return socket;
  };
  const sockets = [await answered()];
  try {
    collect();
    const atFirst = process.memoryUsage().arrayBuffers;
    for (let count = 0; count < 8; count++) sockets.push(await answered());
    // What was collected is freed a little later.
    await pollUntil(() => {
      collect();
      return process.memoryUsage().arrayBuffers - atFirst < 4 * Buffer.poolSize;
    });
  } finally {
    Buffer.poolSize = usual;
    for (const socket of sockets) socket.destroy();
  }
});

test('a request moves no timer of its connection', async (t) => {
  handler = () => ok('fine');
  const session = connect();
  await send(session, { ':path': '/' });
  const timer = setInterval(() => undefined, 1000);
  clearInterval(timer);
  const refresh = t.mock.method(Object.getPrototypeOf(timer) as NodeJS.Timeout, 'refresh');
  for (let count = 0; count < 10; count++) await send(session, { ':path': '/' });
  assert.equal(refresh.mock.callCount(), 0);
  session.close();
});

test('plain HTTP gets a hint to use TLS, and rubbish does no harm', async () => {
  handler = () => ok('fine');
  const sendRaw = (bytes: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = net.connect(listener.port, '127.0.0.1', () => socket.write(bytes));
      let text = '';
      socket.on('data', (piece) => (text += piece.toString()));
      socket.on('close', () => resolve(text));
      socket.on('error', () => undefined);
    });
  assert.match(
    await sendRaw('GET / HTTP/1.1\r\n\r\n'),
    /^HTTP\/1.0 400 [^]*Client sent an HTTP request to an HTTPS server.\n$/,
  );
  await sendRaw('rubbish that is no TLS at all\r\n');
  assert.equal((await ask1({})).body, 'fine');
});

test('certificate files that change are shown to new connections, and a broken pair is not', async () => {
  const made = (name: string) =>
    ensureSelfSignedCertificate(path.join(folder, `reload-${name}`), name, { dnsNames: [], ipAddresses: [] }, now);
  const files = made('first');
  const clientCa = path.join(folder, 'reload-ca.crt');
  fs.writeFileSync(clientCa, authority.certPem);
  let refused = (): void => undefined;
  const refusal = (): Promise<void> => new Promise((resolve) => (refused = resolve));
  const logs = createLogs({
    verbosity: 0,
    write: (_descriptor, text) => {
      if (text.includes('Kept the serving certificates in use')) refused();
    },
  });
  const options = { serving: files, clientCaFiles: [clientCa], log: logs.for('certificates') };
  const certificates = loadServingCertificates(options);
  const changed = await listen({ address: '127.0.0.1', port: 0, certificates, handler: () => ok('x'), log });
  const shown = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = tls.connect({ port: changed.port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject?.CN).split('@')[0] ?? '');
        socket.destroy();
      });
      socket.on('error', reject);
    });
  const becomes = (name: string): Promise<string> => pollUntil(shown, (seen) => seen === name);
  assert.equal(await shown(), 'first');
  const replace = ({ certFile, keyFile }: typeof files): void => {
    fs.copyFileSync(certFile, files.certFile);
    fs.copyFileSync(keyFile, files.keyFile);
  };
  const second = made('second');
  const half = refusal();
  fs.copyFileSync(second.certFile, files.certFile);
  await half;
  assert.equal(await shown(), 'first');
  replace(second);
  await becomes('second');
  const emptied = refusal();
  for (const file of [files.certFile, files.keyFile]) fs.writeFileSync(file, '');
  await emptied;
  assert.equal(await shown(), 'second');
  // A bundle that is none does not keep a good pair away.
  fs.writeFileSync(clientCa, '');
  replace(made('third'));
  await becomes('third');
  await changed.close(100);
});

test('a client certificate with a false signature is for authentication to refuse: the connection holds', async () => {
  // From an authority of the same name with another key. Without key identifiers OpenSSL goes by the name alone, and
  // finds out by the signature.
  const openssl = (line: string) => promisify(execFile)('openssl', line.split(' '), { cwd: folder });
  const name = `/${new X509Certificate(authority.certPem).subject.replaceAll('\n', '/')}`;
  const newKey = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  await openssl(`req -x509 ${newKey} -keyout false-ca.key -out false-ca.pem -subj ${name} -days 2`);
  await openssl(`req -new ${newKey} -keyout false.key -out false.csr -subj /CN=jane`);
  await openssl('x509 -req -in false.csr -CA false-ca.pem -CAkey false-ca.key -CAcreateserial -out false.pem -days 2');
  handler = ({ clientCertificates }) => ok(String(clientCertificates.length > 0));
  // In a process of its own, since a client in this one would clear OpenSSL's errors for the server; and not Node,
  // whose pace hides them.
  const request = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx';
  for (let i = 0; i < 10; i++) {
    const line = `s_client -quiet -connect 127.0.0.1:${listener.port} -cert false.pem -key false.key`;
    const client = promisify(execFile)('openssl', line.split(' '), { cwd: folder });
    client.child.stdin?.write(request);
    assert.match((await client).stdout, /true$/);
  }
});

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const sharesPorts = major > 22 || (major === 22 && minor >= 12);

test('a second server shares the port where Node can, and is refused it where not', async () => {
  const certificates = loadServingCertificates({ serving, sni: [], clientCaFiles: [authority.certFile], log });
  const share = (port: number): Promise<Listener> =>
    listen({ address: '127.0.0.1', port, certificates, handler: () => ok('x'), log, permitPortSharing: true });
  const first = await share(0);
  const second = await share(first.port).catch((error: Error) => error.message);
  try {
    const outcome = typeof second === 'string' ? second : second.port;
    if (sharesPorts) assert.equal(outcome, first.port);
    else assert.match(String(outcome), /bind: address already in use$/);
  } finally {
    await first.close(100);
    if (typeof second !== 'string') await second.close(100);
  }
});

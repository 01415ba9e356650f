// runs-on: every-node
// The outbound client against real servers: protocols, pools, trust, faults.
import assert from 'node:assert/strict';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { generateKeys, issueCertificate, privateKeyPem } from '../src/lib/x509/issue-certificate.js';
import type { ClientTls } from '../src/outbound/client-tls.js';
import { type Dialer, directDialer } from '../src/outbound/dialer.js';
import { collectBody, HttpClient } from '../src/outbound/http-client.js';
import { OutboundError, requestErrorText } from '../src/outbound/outbound-error.js';

const DAY_MS = 86_400_000;
const authority = { subject: { commonName: 'test authority' }, keys: generateKeys() };
const ca = issue({ subject: authority.subject, keys: authority.keys, use: 'authority' });
const good = pairFor({ dnsNames: ['hook.example.test'], ipAddresses: ['127.0.0.1'] });

function issue(options: {
  subject: { commonName: string };
  keys: ReturnType<typeof generateKeys>;
  use: 'authority' | 'server';
  dnsNames?: string[];
  ipAddresses?: string[];
  expired?: boolean;
}): string {
  const now = Date.now();
  return issueCertificate({
    subject: options.subject,
    publicKey: options.keys.publicKey,
    issuer: authority,
    use: options.use,
    dnsNames: options.dnsNames ?? [],
    ipAddresses: options.ipAddresses ?? [],
    notBeforeMs: now - 2 * DAY_MS,
    notAfterMs: options.expired === true ? now - DAY_MS : now + DAY_MS,
  });
}

function pairFor(names: { dnsNames?: string[]; ipAddresses?: string[]; expired?: boolean }): {
  cert: string;
  key: string;
} {
  const keys = generateKeys();
  const cert = issue({ subject: { commonName: '127.0.0.1' }, keys, use: 'server', ...names });
  return { cert, key: privateKeyPem(keys.privateKey) };
}

/** Dials directly and counts. */
const counting = (): Dialer & { count: number } => {
  const dialer = {
    count: 0,
    dial: (...args: Parameters<Dialer['dial']>) => (dialer.count++, directDialer.dial(...args)),
  };
  return dialer;
};

interface Listening {
  readonly url: URL;
  close(): void;
}

/** A test that fails leaves its servers behind; they would keep the process. */
const listening = new Set<Listening>();
after(() => listening.forEach((server) => server.close()));

async function listen(server: net.Server, scheme: 'http' | 'https'): Promise<Listening> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = {
    url: new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/x?y=1`),
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
  listening.add(open);
  return open;
}

const echo: http.RequestListener = (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.setHeader('x-version', request.httpVersion);
    response.setHeader('x-connection', String(request.headers.connection));
    response.write(`${request.method} ${request.url} `);
    response.addTrailers({ 'x-bytes': String(Buffer.concat(chunks).length) });
    response.end(Buffer.concat(chunks));
  });
};

const failureOf = async (work: Promise<unknown>): Promise<OutboundError> => {
  const error: unknown = await work.then(
    () => assert.fail('it did not fail'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof OutboundError, String(error));
  return error;
};

describe('the outbound client', () => {
  let plain: Listening;
  let secure: Listening;
  let secureHttp2: Listening;
  before(async () => {
    plain = await listen(http.createServer(echo), 'http');
    secure = await listen(https.createServer(good, echo), 'https');
    secureHttp2 = await listen(
      http2.createSecureServer({ ...good, allowHTTP1: true }, echo as never) as never,
      'https',
    );
  });

  for (const [name, server, version] of [
    ['plain HTTP/1.1', () => plain, '1.1'],
    ['HTTP/1.1 over TLS', () => secure, '1.1'],
    ['HTTP/2 over TLS', () => secureHttp2, '2.0'],
  ] as const) {
    it(`sends bodies and reads answers over ${name}, on one connection`, async () => {
      const dialer = counting();
      const client = new HttpClient({ dialer, tls: () => ({ ca }) });
      for (let i = 0; i < 3; i++) {
        const response = await client.request({ method: 'POST', url: server().url, body: `body ${i}` });
        assert.equal(response.status, 200);
        assert.equal(response.headers['x-version'], version);
        assert.equal(response.headers['x-connection'], 'undefined');
        assert.equal((await collectBody(response, 1000)).toString(), `POST /x?y=1 body ${i}`);
        assert.deepEqual(response.trailers?.(), { 'x-bytes': ['6'] });
      }
      assert.equal(dialer.count, 1);
      client.close();
    });
  }

  it('learns the protocol once for requests that come together', async () => {
    const dialer = counting();
    const client = new HttpClient({ dialer, tls: () => ({ ca }) });
    const all = Array.from({ length: 20 }, () => client.request({ method: 'GET', url: secureHttp2.url }));
    for (const response of await Promise.all(all)) await collectBody(response, 1000);
    assert.equal(dialer.count, 1);
    client.close();
  });

  it('opens another connection when the one it kept was closed meanwhile', async () => {
    const once = http.createServer(echo);
    const server = await listen(once, 'http');
    const client = new HttpClient({ dialer: directDialer });
    await collectBody(await client.request({ method: 'GET', url: server.url }), 100);
    once.closeIdleConnections();
    const answer = await collectBody(await client.request({ method: 'GET', url: server.url }), 100);
    assert.equal(answer.toString(), 'GET /x?y=1 ');
    client.close();
    server.close();
  });

  it('an HTTP/2 answer whose connection is gone breaks off, and one that ends is whole', async () => {
    const dying = http2.createSecureServer(good);
    let leave = (): void => undefined;
    dying.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      stream.respond({ ':status': 200 });
      if (headers[':path'] === '/whole') return void stream.end('all of it');
      leave = () => stream.session?.destroy();
      return stream.write('half of it');
    });
    const server = await listen(dying as never, 'https');
    const client = new HttpClient({ dialer: directDialer, tls: () => ({ ca }) });
    const get = (target: string) => client.request({ method: 'GET', url: new URL(target, server.url) });
    assert.equal(String(await collectBody(await get('/whole'), 100)), 'all of it');
    const half = collectBody(await get('/half'), 100);
    leave();
    await assert.rejects(half, { message: 'unexpected EOF' });
    client.close();
    server.close();
  });

  it('retries what a server refused unprocessed over HTTP/2, and reports why it broke off the rest', async () => {
    const choosy = http2.createSecureServer(good);
    let refusals = 0;
    choosy.on('stream', (stream, headers) => {
      stream.on('error', () => undefined);
      if (headers[':path'] === '/broken') return stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR);
      if (refusals++ === 0) return stream.close(http2.constants.NGHTTP2_REFUSED_STREAM);
      stream.respond({ ':status': 200 });
      stream.end('well');
    });
    const server = await listen(choosy as never, 'https');
    const client = new HttpClient({ dialer: directDialer, tls: () => ({ ca }) });
    const answer = await client.request({ method: 'GET', url: server.url });
    assert.equal((await collectBody(answer, 100)).toString(), 'well');
    const broken = await failureOf(client.request({ method: 'POST', url: new URL('/broken', server.url), body: 'x' }));
    assert.match(broken.message, /^stream error: stream ID \d+; INTERNAL_ERROR; received from peer$/);
    client.close();
    server.close();
  });

  it('names what the TLS alert of a server says is wrong', async () => {
    const server = await listen(http2.createSecureServer(good) as never, 'https');
    const client = new HttpClient({ dialer: directDialer, http2: false, tls: () => ({ ca }) });
    const error = await failureOf(client.request({ method: 'GET', url: server.url }));
    assert.equal(error.message, 'remote error: tls: no application protocol');
    client.close();
    server.close();
  });

  const refused = (tls: ClientTls, url: () => URL): Promise<OutboundError> =>
    failureOf(new HttpClient({ dialer: directDialer, tls: () => tls }).request({ method: 'POST', url: url() }));

  it('does not trust a server that another authority vouches for', async () => {
    const other = generateKeys();
    const stranger = issueCertificate({
      subject: { commonName: 'other' },
      publicKey: other.publicKey,
      issuer: { subject: { commonName: 'other' }, keys: other },
      use: 'authority',
      notBeforeMs: Date.now() - DAY_MS,
      notAfterMs: Date.now() + DAY_MS,
    });
    const error = await refused({ ca: stranger }, () => secure.url);
    assert.equal(error.message, 'tls: failed to verify certificate: x509: certificate signed by unknown authority');
  });

  it('holds a server to its name, which only alternative names have', async () => {
    const byName = await refused({ ca, serverName: 'other.example.test' }, () => secure.url);
    assert.equal(
      byName.message,
      'tls: failed to verify certificate: x509: certificate is valid for hook.example.test, not other.example.test',
    );
    const nameless = await listen(https.createServer(pairFor({}), echo), 'https');
    const legacy = await refused({ ca }, () => nameless.url);
    assert.match(legacy.message, /certificate relies on legacy Common Name field, use SANs instead$/);
    const other = await refused({ ca, serverName: 'a.example.test' }, () => nameless.url);
    assert.match(other.message, /certificate is not valid for any names, but wanted to match a\.example\.test$/);
    nameless.close();
    const named = await listen(https.createServer(pairFor({ dnsNames: ['b.example.test'] }), echo), 'https');
    const byAddress = await refused({ ca }, () => named.url);
    assert.match(
      byAddress.message,
      /cannot validate certificate for 127\.0\.0\.1 because it doesn't contain any IP SANs$/,
    );
    named.close();
  });

  it('reports a certificate without alternative names, whether it is trusted or not', async () => {
    const nameless = await listen(https.createServer(pairFor({}), echo), 'https');
    const faults: string[] = [];
    const get = async (url: URL, tls: ClientTls): Promise<void> => {
      const client = new HttpClient({ dialer: directDialer, tls: () => tls });
      const certificateFault = (fault: string, host: string): void => void faults.push(`${fault} ${host}`);
      await client.request({ method: 'GET', url, certificateFault }).then(
        (answer) => collectBody(answer, 100),
        () => undefined,
      );
      client.close();
    };
    await get(nameless.url, { ca });
    await get(nameless.url, { insecure: true });
    assert.deepEqual(faults, ['missing-san 127.0.0.1', 'missing-san 127.0.0.1']);
    await get(secure.url, { ca });
    assert.equal(faults.length, 2);
    nameless.close();
  });

  it('says since when a certificate has expired', async () => {
    const expired = await listen(
      https.createServer(pairFor({ ipAddresses: ['127.0.0.1'], expired: true }), echo),
      'https',
    );
    const error = await refused({ ca }, () => expired.url);
    assert.match(error.message, /certificate has expired or is not yet valid: current time \S+Z is after \S+Z$/);
    expired.close();
  });

  it('takes any certificate when faults to, and one that is itself trusted', async () => {
    for (const tls of [{ insecure: true, ca: '' }, { ca: good.cert }]) {
      const client = new HttpClient({ dialer: directDialer, tls: () => tls });
      await collectBody(await client.request({ method: 'GET', url: secure.url }), 100);
      client.close();
    }
  });

  it('names a server that is not there as kube-apiserver does', async () => {
    const gone = await listen(net.createServer(), 'http');
    gone.close();
    const error = await failureOf(new HttpClient({ dialer: directDialer }).request({ method: 'POST', url: gone.url }));
    assert.equal(
      requestErrorText('POST', gone.url, error),
      `Post "${gone.url.href}": dial tcp 127.0.0.1:${gone.url.port}: connect: connection refused`,
    );
  });

  it('ends in its time with a server that never answers, answers slowly or never shakes hands', async () => {
    const mute = await listen(net.createServer(), 'https');
    const slow = await listen(
      http.createServer((_request, response) => void response.writeHead(200).write('a')),
      'http',
    );
    const client = new HttpClient({ dialer: directDialer, tls: () => ({ ca }) });
    const never = await failureOf(client.request({ method: 'GET', url: mute.url, timeoutMs: 50 }));
    assert.equal(never.message, 'context deadline exceeded');
    const response = await client.request({ method: 'GET', url: slow.url, timeoutMs: 1000 });
    await failureOf(collectBody(response, 1000));
    client.close();
    mute.close();
    slow.close();
  });

  it('reads no more than it was faults of an answer', async () => {
    const large = await listen(
      http.createServer((_request, response) => void response.end(Buffer.alloc(1_000_000))),
      'http',
    );
    const client = new HttpClient({ dialer: directDialer });
    const response = await client.request({ method: 'GET', url: large.url });
    assert.equal((await failureOf(collectBody(response, 1000))).failure, 'too-large');
    client.close();
    large.close();
  });

  it('fails on garbage instead of an answer', async () => {
    const garbage = await listen(
      net.createServer((socket) => void socket.end('this is not HTTP\r\n\r\n')),
      'http',
    );
    const client = new HttpClient({ dialer: directDialer });
    assert.equal((await failureOf(client.request({ method: 'GET', url: garbage.url }))).failure, 'protocol');
    client.close();
    garbage.close();
  });

  it('distinguishes a server that speaks HTTP without TLS from one that speaks neither', async () => {
    const asTls = (server: Listening): URL => new URL(server.url.href.replace('http:', 'https:'));
    const garbage = await listen(
      net.createServer((socket) => void socket.end('this is neither\r\n\r\n')),
      'http',
    );
    const client = new HttpClient({ dialer: directDialer });
    const get = async (server: Listening): Promise<string> =>
      (await failureOf(client.request({ method: 'GET', url: asTls(server) }))).message;
    assert.equal(await get(plain), 'http: server gave HTTP response to HTTPS client');
    assert.equal(await get(garbage), 'tls: first record does not look like a TLS handshake');
    client.close();
    const dialer = counting();
    const once = new HttpClient({ dialer, probePlainHttp: false });
    const error = await failureOf(once.request({ method: 'GET', url: asTls(plain) }));
    assert.deepEqual([error.message, dialer.count], ['tls: first record does not look like a TLS handshake', 1]);
    once.close();
    garbage.close();
  });

  it('hands over the connection when the server switches protocols, and the answer when it does not', async () => {
    const switching = http.createServer(echo);
    switching.on('upgrade', (_request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello');
      socket.pipe(socket);
    });
    const server = await listen(switching, 'http');
    const client = new HttpClient({ dialer: directDialer });
    const headers = { connection: 'Upgrade', upgrade: 'echo' };
    const upgraded = await client.upgrade({ method: 'POST', url: server.url, headers });
    assert.ok('socket' in upgraded);
    upgraded.socket.write(' world');
    let text = upgraded.head.toString();
    for await (const chunk of upgraded.socket as AsyncIterable<Buffer>) {
      text += chunk.toString();
      if (text.length >= 'hello world'.length) break;
    }
    assert.equal(text, 'hello world');
    const answered = await client.upgrade({ method: 'GET', url: plain.url, headers });
    assert.ok('body' in answered);
    await collectBody(answered, 100);
    client.close();
    server.close();
  });
});

// What the secure port offers in TLS, as an openssl client finds out: it offers everything, removes what was chosen,
// and offers the rest, until nothing is chosen. What comes out is kube-apiserver's own list, for each kind of key.
import { silentLog } from '../src/lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import tls from 'node:tls';
import { generateKeys, issueCertificate, type KeyPair } from '../src/lib/x509/issue-certificate.js';
import { createLogs } from '../src/lib/telemetry/log.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { directDialer } from '../src/outbound/dialer.js';
import { handshake } from '../src/outbound/client-tls.js';
import { listen, type Listener } from '../src/server/listener/listener.js';
import { type CertificateFiles, loadServingCertificates } from '../src/server/listener/serving-certificates.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-tls-'));
const lines: string[] = [];
let tlsErrors = 0;
const listeners: Listener[] = [];
const KEYS = { ECDSA: generateKeys, RSA: () => generateKeyPairSync('rsa', { modulusLength: 2048 }) };
const OTHER_KEYS = { ECDSA: 'RSA', RSA: 'ECDSA' } as const;
const ports = { ECDSA: 0, RSA: 0 };
/** Of servers with a certificate for `other.test` whose key is of the other type than that of the default one. */
const mixedPorts = { ECDSA: 0, RSA: 0 };

before(async () => {
  for (const key of ['ECDSA', 'RSA'] as const) {
    const [serving, other] = [`${key}-serving`, `${key}-other`].map((name) => pairOf(name, KEYS[key]()));
    if (serving !== undefined && other !== undefined) ports[key] = await listening(serving, other);
    const otherKey = OTHER_KEYS[key];
    mixedPorts[key] = await listening(
      pairOf(`default-${key}`, KEYS[key]()),
      pairOf(`named-${otherKey}`, KEYS[otherKey]()),
    );
  }
});
after(async () => {
  for (const listener of listeners) await listener.close(100);
  fs.rmSync(folder, { recursive: true });
});

/** A self-signed certificate for a server. */
function pairOf(name: string, keys: KeyPair): CertificateFiles {
  const authority = { subject: { commonName: name }, keys: generateKeys() };
  const life = { notBeforeMs: Date.now() - 1000, notAfterMs: Date.now() + 3_600_000 };
  const use = 'server';
  const cert = issueCertificate({
    ...life,
    subject: { commonName: name },
    publicKey: keys.publicKey,
    issuer: authority,
    use,
  });
  const files = { certFile: path.join(folder, `${name}.crt`), keyFile: path.join(folder, `${name}.key`) };
  fs.writeFileSync(files.certFile, cert);
  fs.writeFileSync(files.keyFile, keys.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return files;
}

/** The port of a server that shows `other` for the server name `other.test`. */
async function listening(serving: CertificateFiles, other: CertificateFiles): Promise<number> {
  const log = createLogs({ verbosity: 1, write: (_descriptor, text) => void lines.push(...text.split('\n')) }).for(
    'test',
  );
  const certificates = loadServingCertificates({
    serving,
    sni: [{ ...other, names: ['other.test'] }],
    log: silentLog,
  });
  const handler = () => ({ status: 200, headers: {}, body: 'ok' });
  const onTlsError = (): void => void tlsErrors++;
  const listener = await listen({ address: '127.0.0.1', port: 0, certificates, handler, log, onTlsError });
  listeners.push(listener);
  return listener.port;
}

interface Attempt {
  readonly isAgreed: boolean;
  readonly output: string;
}

/** One connection of an openssl client, which leaves once the handshake is over. */
async function connect(port: number, ...options: readonly string[]): Promise<Attempt> {
  const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${port}`, ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  client.stdout.on('data', (piece) => (output += piece));
  client.stderr.on('data', (piece) => (output += piece));
  const [code] = (await once(client, 'close')) as [number];
  return { isAgreed: code === 0, output };
}

/** What is chosen of all that is offered, then of the rest, and so on. */
async function chosenOf(
  offered: readonly string[],
  chosen: (offered: readonly string[]) => Promise<string | undefined>,
): Promise<string[]> {
  const all: string[] = [];
  for (let rest = offered; rest.length > 0;) {
    const next = await chosen(rest);
    if (next === undefined) return all;
    assert.ok(rest.includes(next), `${next} was chosen of ${rest.join()}`);
    all.push(next);
    rest = rest.filter((each) => each !== next);
  }
  return all;
}

/** Every TLS 1.2 suite that this openssl has, however weak. */
async function allSuites(): Promise<string[]> {
  const list = spawn('openssl', ['ciphers', '-s', '-tls1_2', 'ALL:COMPLEMENTOFALL:@SECLEVEL=0']);
  let output = '';
  list.stdout.on('data', (piece) => (output += piece));
  await once(list, 'close');
  return output.trim().split(':');
}

const suiteFor = (port: number, options: readonly string[]) => async (suites: readonly string[]) => {
  const offer = ['-tls1_2', '-cipher', `${suites.join(':')}:@SECLEVEL=0`];
  const { isAgreed, output } = await connect(port, ...offer, ...options);
  return isAgreed ? /Cipher is (\S+)/.exec(output)?.[1] : undefined;
};

const SUITES = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384', 'CHACHA20-POLY1305', 'AES128-SHA', 'AES256-SHA'];
const NAMES = [[], ['-servername', 'other.test']] as const;

test('five suites of TLS 1.2 are offered for each kind of key, by default and for a server name', async () => {
  const all = await allSuites();
  for (const refused of ['AES128-SHA', 'ECDHE-RSA-AES128-SHA256', 'DHE-RSA-AES128-GCM-SHA256', 'AES128-CCM8']) {
    assert.ok(all.includes(refused), `the client offers ${refused}`);
  }
  for (const key of ['ECDSA', 'RSA'] as const) {
    for (const names of NAMES) {
      assert.deepEqual(
        await chosenOf(all, suiteFor(ports[key], names)),
        SUITES.map((suite) => `ECDHE-${key}-${suite}`),
      );
    }
  }
});

test('three suites of TLS 1.3 are offered', async () => {
  const all = ['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256'].map((name) => `TLS_${name}`);
  const found = await chosenOf(['TLS_AES_128_CCM_SHA256', 'TLS_AES_128_CCM_8_SHA256', ...all], async (suites) => {
    const { isAgreed, output } = await connect(ports.RSA, '-tls1_3', '-ciphersuites', suites.join(':'));
    return isAgreed ? /Cipher is (\S+)/.exec(output)?.[1] : undefined;
  });
  assert.deepEqual(found, all);
});

const SIGNATURES = { ECDSA: 'ECDSA+SHA256', RSA: 'RSA-PSS+SHA256' };

/** The certificate that a client gets; `undefined` when it gets none. */
async function shownTo(port: number, ...options: readonly string[]): Promise<string | undefined> {
  const { isAgreed, output } = await connect(port, ...options);
  return isAgreed ? /subject=.*CN ?= ?(\S+)/.exec(output)?.[1] : undefined;
}

test('a name is answered with its certificate alone, also when the default one has another type of key', async () => {
  for (const key of ['ECDSA', 'RSA'] as const) {
    const [port, other] = [mixedPorts[key], OTHER_KEYS[key]];
    const orders = [`${SIGNATURES.ECDSA}:${SIGNATURES.RSA}`, `${SIGNATURES.RSA}:${SIGNATURES.ECDSA}`];
    for (const version of ['-tls1_2', '-tls1_3']) {
      for (const order of orders) {
        const offer = [version, '-sigalgs', order];
        assert.equal(await shownTo(port, ...offer, '-servername', 'other.test'), `named-${other}`, offer.join(' '));
        assert.equal(await shownTo(port, ...offer, '-servername', 'unknown.test'), `default-${key}`, offer.join(' '));
        assert.equal(await shownTo(port, ...offer, '-noservername'), `default-${key}`, offer.join(' '));
      }
    }
  }
});

test('a client that cannot verify a name’s certificate gets none, one without a name the first that it can', async () => {
  for (const key of ['ECDSA', 'RSA'] as const) {
    const [port, other] = [mixedPorts[key], OTHER_KEYS[key]];
    for (const version of ['-tls1_2', '-tls1_3']) {
      const [ownOnly, otherOnly] = [key, other].map((each) => [version, '-sigalgs', SIGNATURES[each]]);
      assert.equal(await shownTo(port, ...(ownOnly ?? []), '-servername', 'other.test'), undefined);
      assert.equal(await shownTo(port, ...(otherOnly ?? []), '-servername', 'other.test'), `named-${other}`);
      assert.equal(await shownTo(port, ...(ownOnly ?? []), '-noservername'), `default-${key}`);
      assert.equal(await shownTo(port, ...(otherOnly ?? []), '-noservername'), `named-${other}`);
    }
  }
});

const KUBE_GROUPS = ['X25519MLKEM768', 'X25519', 'P-256', 'P-384', 'P-521'];
const OTHER_GROUPS = ['X448', 'brainpoolP256r1', 'secp256k1', 'ffdhe2048', 'ffdhe3072', 'ffdhe8192'];
const GROUP_NAMES: Readonly<Record<string, string>> = {
  prime256v1: 'P-256',
  secp256r1: 'P-256',
  secp384r1: 'P-384',
  secp521r1: 'P-521',
};

/** A group that this openssl does not have is an error before it connects. */
async function knownToClient(groups: readonly string[]): Promise<string[]> {
  const known = await Promise.all(
    groups.map(async (group) => !(await connect(1, '-groups', group)).output.includes('-groups')),
  );
  return groups.filter((_, i) => known[i]);
}

function knownToServer(group: string): boolean {
  try {
    tls.createSecureContext({ ecdhCurve: group, ca: [] });
    return true;
  } catch {
    return false;
  }
}

const groupFor = (port: number, options: readonly string[]) => async (groups: readonly string[]) => {
  const { isAgreed, output } = await connect(port, ...options, '-groups', groups.join(':'));
  if (!isAgreed) return undefined;
  const name = /(?:Temp Key: (?:ECDH, )?|Negotiated TLS1\.3 group: )([\w-]+)/.exec(output)?.[1] ?? '';
  return GROUP_NAMES[name] ?? name;
};

test('the groups of kube-apiserver are offered, and no other', async () => {
  const client = await knownToClient([...KUBE_GROUPS, ...OTHER_GROUPS]);
  assert.ok(client.includes('ffdhe8192') && client.includes('X448'));
  const expected = KUBE_GROUPS.filter((group) => client.includes(group) && knownToServer(group));
  assert.ok(expected.length >= 4);
  for (const names of NAMES) {
    const found = await chosenOf(client, groupFor(ports.ECDSA, ['-tls1_3', ...names]));
    assert.deepEqual(new Set(found), new Set(expected));
    const older = await chosenOf(
      client.filter((group) => group !== 'X25519MLKEM768'),
      groupFor(ports.RSA, ['-tls1_2', ...names]),
    );
    assert.deepEqual(new Set(older), new Set(expected.filter((group) => group !== 'X25519MLKEM768')));
  }
});

test('TLS 1.2 and 1.3 are spoken, and nothing older', async () => {
  for (const version of ['-tls1_2', '-tls1_3']) assert.ok((await connect(ports.ECDSA, version)).isAgreed, version);
  for (const version of ['-tls1', '-tls1_1']) {
    const { isAgreed, output } = await connect(ports.ECDSA, version, '-cipher', 'ALL:@SECLEVEL=0');
    assert.equal(isAgreed, false, version);
    assert.match(output, /alert protocol version/);
  }
});

/** The first bytes of an openssl client with these options. */
async function helloOf(...options: readonly string[]): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[net.Socket]>;
  const client = connect((server.address() as net.AddressInfo).port, ...options);
  const [socket] = await accepted;
  const [hello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  await client;
  return hello;
}

/** All that the server answers to these bytes before it closes. */
async function answerTo(port: number, bytes: Buffer): Promise<string> {
  const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  await once(socket, 'close');
  return Buffer.concat(pieces).toString('hex');
}

const HANDSHAKE_FAILURE_ALERT = '15030300020228';

test('a share of a large finite field is answered with an alert, before any key is made', async () => {
  const hello = await helloOf('-tls1_3', '-groups', 'ffdhe8192');
  assert.ok(hello.length > 1024, 'it has a key of 8192 bits');
  const [errorsBefore, count] = [tlsErrors, 100];
  const answers = await Promise.all(Array.from({ length: count }, () => answerTo(ports.ECDSA, hello)));
  assert.deepEqual(new Set(answers), new Set([HANDSHAKE_FAILURE_ALERT]));
  assert.equal(tlsErrors - errorsBefore, count);
});

test('a client that renegotiates is cut off at the first time', async () => {
  const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${ports.RSA}`, '-tls1_2', '-msg']);
  let output = '';
  client.stdout.on('data', (piece) => (output += piece));
  client.stderr.on('data', (piece) => (output += piece));
  const closed = once(client, 'close');
  await pollUntil(() => output.includes('Verify return code'));
  client.stdin.write('R\n');
  await closed;
  const renegotiation = output.slice(output.indexOf('RENEGOTIATING'));
  assert.match(renegotiation, />>> TLS 1.2, Handshake .*, ClientHello/);
  assert.doesNotMatch(renegotiation, /<<< TLS 1.2, Handshake/);
});

test('new keys for a connection of TLS 1.3 are no renegotiation', async () => {
  const client = spawn('openssl', ['s_client', '-connect', `127.0.0.1:${ports.RSA}`, '-tls1_3', '-msg']);
  let output = '';
  client.stdout.on('data', (piece) => (output += piece));
  const closed = once(client, 'close');
  await pollUntil(() => output.includes('Verify return code'));
  client.stdin.write('K\n');
  await pollUntil(() => output.includes('KeyUpdate'));
  client.stdin.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
  await closed;
  assert.match(output, /HTTP\/1.1 200 OK/);
});

test('a handshake that fails is logged with the address of the client, also of one that is gone', async () => {
  const hello = await helloOf('-tls1_3');
  for (const bytes of [Buffer.from('no TLS at all\r\n'), hello.subarray(0, 40), hello]) {
    const socket = net.connect(ports.ECDSA, '127.0.0.1');
    await once(socket, 'connect');
    const from = `http: TLS handshake error from 127.0.0.1:${socket.localPort}: `;
    socket.on('error', () => undefined).write(bytes, () => socket.resetAndDestroy());
    await pollUntil(() => lines.some((line) => line.includes(from)));
  }
  assert.deepEqual(
    lines.filter((line) => !/ from 127\.0\.0\.1:\d+: /.test(line) && line.includes('TLS handshake error')),
    [],
  );
});

/** Suites and groups in the first bytes of a client. */
function offeredIn(hello: Buffer): { suites: number[]; groups: number[] } {
  const numbers = (bytes: Buffer): number[] =>
    Array.from({ length: bytes.length / 2 }, (_, i) => bytes.readUInt16BE(2 * i));
  // A header of a record, one of a message, a version and 32 random bytes.
  let at = 5 + 4 + 2 + 32;
  const readVector = (lengthBytes: number): Buffer => {
    const end = at + lengthBytes + hello.readUIntBE(at, lengthBytes);
    const vector = hello.subarray(at + lengthBytes, end);
    at = end;
    return vector;
  };
  readVector(1);
  const suites = numbers(readVector(2));
  readVector(1);
  at += 2;
  let groups: number[] = [];
  while (at < hello.length) {
    const type = hello.readUInt16BE(at);
    at += 2;
    const body = readVector(2);
    if (type === 10) groups = numbers(body.subarray(2));
  }
  return { suites, groups };
}

test('a client offers what a server does', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection') as Promise<[net.Socket]>;
  const signal = new AbortController().signal;
  const { port } = server.address() as net.AddressInfo;
  const connection = await directDialer.dial({ host: '127.0.0.1', port }, signal);
  const failed = assert.rejects(
    handshake(connection, { tls: { insecure: true }, host: 'a.test', protocols: [], signal }),
  );
  const [socket] = await accepted;
  const [hello] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  await failed;
  const { suites, groups } = offeredIn(hello);
  assert.deepEqual(
    suites.filter((suite) => suite !== RENEGOTIATION_INFO).map((suite) => suite.toString(16)),
    ['1301', '1302', '1303', 'c02b', 'c02f', 'c02c', 'c030', 'cca9', 'cca8', 'c009', 'c013', 'c00a', 'c014'],
  );
  const numbersOfGroups = { X25519MLKEM768: 0x11ec, X25519: 0x1d, 'P-256': 0x17, 'P-384': 0x18, 'P-521': 0x19 };
  const expected = Object.entries(numbersOfGroups).filter(([group]) => knownToServer(group));
  assert.deepEqual(
    groups,
    expected.map(([, number]) => number),
  );
});

/** Stands in the list of suites and is none. */
const RENEGOTIATION_INFO = 0xff;

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** Every way Node has of opening a connection. */
const OPENS = [
  'net.connect(',
  'net.createConnection(',
  'tls.connect(',
  'http.request(',
  'http.get(',
  'https.request(',
  'https.get(',
  'http2.connect(',
  'fetch(',
  'new WebSocket(',
  'dgram.',
  'new net.Socket(',
];
/** Who opens connections outside of this room, and why that is no way around the dialer. */
const ALLOWED: Readonly<Record<string, string>> = {
  'authn/jwt/discovery.ts': 'its fetch is the issuer client that it is given',
  'authn/jwt/distributed-claims.ts': 'its fetch is the issuer client that it is given',
  'authn/jwt/key-set.ts': 'its fetch is the issuer client that it is given',
  'authn/token-cache.ts': 'its own fetch asks a function it is given',
  'kv/embedded/folder-lock.ts': 'asks a unix socket in the data folder which process holds it',
  'server/storage/worker-socket.ts': 'reaches the process that holds the store, by a unix socket of the supervisor',
  'testkit/library/api-client.ts': 'runs in a test program, which reaches its own cluster',
  'testkit/library/control-client.ts': 'runs in a test program, which reaches its own child process',
};

test('nothing connects to anything but through a dialer', () => {
  const root = path.join(process.env.BINNACLE_ROOT ?? '.', 'src');
  const around: string[] = [];
  for (const name of fs.readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.endsWith('.test.ts') || name.startsWith('outbound/')) continue;
    const text = fs.readFileSync(path.join(root, name), 'utf8');
    const found = OPENS.filter((call) =>
      text.split(call).some((before, i, all) => i < all.length - 1 && !isWordEnd(before)),
    );
    if (found.length > 0 && !Object.hasOwn(ALLOWED, name)) around.push(`${name}: ${found.join(' ')}`);
  }
  assert.deepEqual(around, []);
});

/** `prefetch(` is not `fetch(`, and `this.net.connect(` not the module's. */
const isWordEnd = (text: string): boolean => {
  const last = text.at(-1) ?? ' ';
  return (
    last === '.' ||
    last === '_' ||
    last === '/' ||
    last === "'" ||
    last === '#' ||
    (last >= 'a' && last <= 'z') ||
    (last >= 'A' && last <= 'Z')
  );
};

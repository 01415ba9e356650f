// A little OpenID issuer for trying things out: it issues whatever claims a request names. Never for anything real.
//
//   node tools/example-issuer.mjs [--address 127.0.0.1] [--port 8443] [--folder /tmp/acme]
//   curl --cacert /tmp/acme/ca.crt 'https://127.0.0.1:8443/token?sub=sam&roles=developers,operators'
import { execFileSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at === -1 ? otherwise : process.argv[at + 1];
};
const port = Number(option('port', '8443'));
const address = option('address', '127.0.0.1');
const folder = option('folder', '/tmp/acme');
const issuer = `https://${address}:${port}`;
const TOKEN_LIFE_SECONDS = 3600;

const file = (name) => path.join(folder, name);
fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
if (!fs.existsSync(file('tls.crt'))) makeCertificates();
if (!fs.existsSync(file('signing.key'))) {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  fs.writeFileSync(file('signing.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
}
const signingKey = createPrivateKey(fs.readFileSync(file('signing.key')));
const jwk = { ...createPublicKey(signingKey).export({ format: 'jwk' }), kid: 'example', use: 'sig', alg: 'ES256' };

const PAGES = {
  '/.well-known/openid-configuration': () => ({ issuer, jwks_uri: `${issuer}/keys` }),
  '/keys': () => ({ keys: [jwk] }),
};

https
  .createServer(
    { cert: fs.readFileSync(file('tls.crt')), key: fs.readFileSync(file('tls.key')) },
    (request, response) => {
      const url = new URL(request.url ?? '/', issuer);
      const page = PAGES[url.pathname]?.();
      if (page !== undefined) response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
      else if (url.pathname === '/token') response.end(`${token(url.searchParams)}\n`);
      else response.writeHead(404).end();
    },
  )
  .listen(port, address, () => console.log(`${issuer}, trusted by ${file('ca.crt')}`));

function token(query) {
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: query.get('aud') ?? 'kubernetes',
    sub: query.get('sub') ?? 'somebody',
    roles: (query.get('roles') ?? '').split(',').filter((role) => role !== ''),
    iat: now,
    exp: now + TOKEN_LIFE_SECONDS,
  };
  const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'ES256', kid: 'example', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), { key: signingKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

function makeCertificates() {
  const openssl = (line) => execFileSync('openssl', line.split(' '), { cwd: folder, stdio: 'pipe' });
  const key = '-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes';
  openssl(`req -x509 ${key} -keyout ca.key -out ca.crt -subj /CN=acme -days 30`);
  openssl(`req -new ${key} -keyout tls.key -out tls.csr -subj /CN=issuer`);
  fs.writeFileSync(file('names'), `subjectAltName=IP:${address}\n`);
  openssl('x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -out tls.crt -days 30 -extfile names');
}

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { generateKeys, issueCertificate, privateKeyPem } from '../lib/x509/issue-certificate.js';
import { clientConfigOf } from './client-config.js';
import { ConfigError } from './config-error.js';
import { loadKubeconfig, parseKubeconfig } from './kubeconfig.js';

const config = (cluster: string, user: string): string => `
clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
const refusal = (text: string): string => {
  try {
    clientConfigOf(parseKubeconfig(text, '/somewhere/config'));
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
  return 'accepted';
};

function authority(): { readonly pem: string; readonly key: string } {
  const keys = generateKeys();
  const subject = { commonName: 'ca' };
  const issuer = { subject, keys };
  const [notBeforeMs, notAfterMs] = [Date.UTC(2026, 0, 1), Date.UTC(2036, 0, 1)];
  const { publicKey } = keys;
  return {
    pem: issueCertificate({ subject, publicKey, issuer, use: 'authority', notBeforeMs, notAfterMs }),
    key: privateKeyPem(keys.privateKey),
  };
}

test('server, trust and credentials come from the current context', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kubeconfig-'));
  const { pem } = authority();
  fs.writeFileSync(path.join(folder, 'ca.crt'), pem);
  fs.writeFileSync(path.join(folder, 'token'), 'first\n');
  const file = path.join(folder, 'config');
  fs.writeFileSync(file, config('server: "https://hook.test/x", certificate-authority: ca.crt', 'tokenFile: token'));
  const client = clientConfigOf(loadKubeconfig(file));
  assert.equal(client.server.href, 'https://hook.test/x');
  assert.equal(String(client.tls().ca), pem);
  assert.deepEqual(client.headers(), { authorization: 'Bearer first' });
  fs.writeFileSync(path.join(folder, 'token'), 'renewed');
  assert.deepEqual(client.headers(), { authorization: 'Bearer renewed' });
  fs.rmSync(folder, { recursive: true });
});

test('what nobody looks into must be what it is called too', () => {
  const good = config('server: a', '');
  for (const more of ['', 'preferences: {colors: true}', 'extensions: [{name: e, extension: 1}, null]']) {
    assert.equal(refusal(`${good}${more}`), 'accepted');
  }
  for (const more of ['preferences: {colors: 1}', 'preferences: x', 'extensions: [1]', 'extensions: [{name: 1}]']) {
    assert.match(refusal(`${good}${more}`), /is wanted/, more);
  }
  assert.match(refusal(config('server: a, disable-compression: x', '')), /is wanted/);
  assert.match(refusal(good.replace('user: u', 'user: u, namespace: 1')), /is wanted/);
  assert.match(refusal(`${good}extensions: [{name: e}, {name: e}]`), /duplicate name "e" in list$/);
  assert.equal(
    refusal(config('server: "a\\nb"', '')),
    'parse "http://a\\nb": net/url: invalid control character in URL',
  );
  assert.match(refusal(`${good}apiVersion: a/b/c`), /: unexpected GroupVersion string: a\/b\/c$/);
});

test('all errors are reported', () => {
  assert.equal(refusal(config('', '')), 'invalid configuration: no server found for cluster "c"');
  assert.equal(
    refusal(config('server: a, certificate-authority: /absent', 'client-certificate-data: YQ==')),
    'invalid configuration: [client-key-data or client-key must be specified for u to use the clientCert authentication method., ' +
      'unable to read certificate-authority /absent for c due to open /absent: no such file or directory]',
  );
  assert.equal(
    refusal('current-context: other\nclusters: [{name: c, cluster: {server: a}}]'),
    'invalid configuration: [context was not found for specified context: other, cluster has no server defined]',
  );
  assert.match(refusal(''), /no configuration has been provided/);
  assert.match(refusal(config('server: a, certificate-authority-data: "!"', '')), /illegal base64 data/);
  assert.throws(() => loadKubeconfig('/absent/config'), { message: 'stat /absent/config: no such file or directory' });
});

test('a file without a way to a server is none, and a user that is not there is nobody', () => {
  const text = config('server: "https://a"', 'token: t');
  const none = /^invalid configuration: no configuration has been provided/;
  assert.match(refusal(text.replace('current-context: x', '')), none);
  assert.match(refusal(text.replace('cluster: c', 'cluster: d')), none);
  assert.equal(refusal(text.replace('user: u', 'user: v')), 'accepted');
  assert.equal(
    refusal(text.replace('clusters: [', 'clusters: [{name: c, cluster: {}}, ')),
    'error loading config file "/somewhere/config": error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "c" in list',
  );
  assert.equal(
    refusal(config('server: "https://a"', 'as-groups: [g]')),
    'invalid configuration: requesting uid, groups or user-extra for u without impersonating a user',
  );
});

test('what a client with TLS is made of is looked at before it is made', () => {
  const said = (cluster: string, user: string): string => refusal(config(`server: "https://a"${cluster}`, user));
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { pem, key } = authority();
  const pair = (cert: string, secret: string): string =>
    `client-certificate-data: ${base64(cert)}, client-key-data: ${base64(secret)}`;
  const ca = (text: string): string => `, certificate-authority-data: ${base64(text)}`;
  assert.equal(said(ca(pem), pair(pem, key)), 'accepted');
  assert.equal(
    said(`${ca(pem)}, insecure-skip-tls-verify: true`, ''),
    'specifying a root certificates file with the insecure flag is not allowed',
  );
  assert.equal(said(ca('abc'), ''), 'unable to load root certificates: unable to parse bytes as PEM block');
  assert.equal(said(ca(key), ''), 'unable to load root certificates: no valid certificate authority data seen');
  assert.equal(said('', pair('abc', key)), 'tls: failed to find any PEM data in certificate input');
  assert.equal(
    said('', pair(key, pem)),
    'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched',
  );
  assert.equal(said('', pair(pem, pem)), 'tls: found a certificate rather than a key in the PEM for the private key');
  assert.equal(said('', pair(pem, authority().key)), 'tls: private key does not match public key');
  assert.equal(said('', 'tokenFile: /absent'), 'open /absent: no such file or directory');
});

test('credentials are not sent in clear', () => {
  const inClear = config('server: "http://a", certificate-authority-data: YWJj', 'token: t');
  assert.deepEqual(clientConfigOf(parseKubeconfig(inClear, '/c')).headers(), {});
  assert.equal(refusal(inClear.replace('token: t', 'tokenFile: /absent')), 'accepted');
});

test('a host without a scheme is reached in clear, and so gets no credentials', () => {
  for (const server of ['hook.test:8443', 'localhost:80', '127.0.0.1']) {
    const cluster = `server: "${server}", certificate-authority-data: YWJj`;
    const text = config(cluster, 'client-certificate-data: YWJj, client-key-data: YWJj, token: t');
    const client = clientConfigOf(parseKubeconfig(text, '/c'));
    assert.equal(client.server.href, new URL(`http://${server}`).href);
    assert.deepEqual(client.headers(), {});
  }
  const withPath = config('server: "hook.test/x", insecure-skip-tls-verify: true', '');
  assert.equal(refusal(withPath), 'host must be a URL or a host:port pair: "hook.test/x"');
  assert.equal(
    refusal(config('server: "https://hook test"', '')),
    'host must be a URL or a host:port pair: "https://hook test"',
  );
});

test('gzip is accepted unless compression is disabled', () => {
  const gzip = (more: string) => clientConfigOf(parseKubeconfig(config(`server: "https://a"${more}`, ''), '/c')).gzip;
  assert.deepEqual([gzip(''), gzip(', disable-compression: true')], [true, false]);
});

test('the impersonated user is always sent', () => {
  const user = 'token: t, as: jo, as-groups: [a, b], as-user-extra: {Some/Key: [v, w]}';
  const headers = (server: string) =>
    clientConfigOf(parseKubeconfig(config(`server: "${server}"`, user), '/c')).headers();
  const acting = {
    'impersonate-user': 'jo',
    'impersonate-group': ['a', 'b'],
    'impersonate-extra-some%2fkey': ['v', 'w'],
  };
  assert.deepEqual(headers('https://a'), { authorization: 'Bearer t', ...acting });
  assert.deepEqual(headers('http://a'), acting);
});

test('a program that speaks for a user is checked, and used where nothing else does', () => {
  const exec = (more: string): string => `exec: {command: ./who, apiVersion: client.authentication.k8s.io/v1, ${more}}`;
  const of = (user: string) =>
    clientConfigOf(parseKubeconfig(config('server: "https://a"', user), '/somewhere/config'));
  assert.ok(of(exec('interactiveMode: Never')).credentials);
  assert.ok(of('exec: {command: who, apiVersion: client.authentication.k8s.io/v1beta1}').credentials);
  assert.equal(of(`token: t, ${exec('interactiveMode: Never')}`).credentials, undefined);
  assert.equal(
    refusal(config('server: a', 'exec: {env: [{value: x}]}, auth-provider: {name: gone}')),
    'invalid configuration: [authProvider cannot be provided in combination with an exec plugin for u, ' +
      'command must be specified for u to use exec authentication plugin, ' +
      'apiVersion must be specified for u to use exec authentication plugin, ' +
      'env variable name must be specified for u to use exec authentication plugin, ' +
      'interactiveMode must be specified for u to use exec authentication plugin]',
  );
  assert.match(refusal(config('server: a', exec('interactiveMode: Often'))), /invalid interactiveMode for u: "Often"$/);
  assert.equal(
    refusal(config('server: "https://a"', 'exec: {command: who, apiVersion: other/v1, interactiveMode: Never}')),
    'exec plugin: invalid apiVersion "other/v1"',
  );
  assert.equal(
    refusal(config('server: "https://a"', 'auth-provider: {name: gone}')),
    'no Auth Provider found for name "gone"',
  );
  const { users } = parseKubeconfig(config('server: a', exec('args: [a]')), '/somewhere/config');
  assert.equal(users.get('u')?.exec?.command, '/somewhere/who');
});

test('a proxy has one of the schemes that are understood', () => {
  const cluster = (url: string): string => config(`server: "https://a", proxy-url: "${url}"`, '');
  for (const url of ['http://p:3128', 'https://user:word@p', 'socks5://p']) {
    assert.equal(clientConfigOf(parseKubeconfig(cluster(url), '/c')).proxy?.href, new URL(url).href);
  }
  assert.equal(
    refusal(cluster('ftp://p')),
    `invalid configuration: invalid 'proxy-url' "ftp://p" for cluster "c": unsupported scheme "ftp", must be http, https, or socks5`,
  );
  assert.match(refusal(cluster('x')), /unsupported scheme "", must be http, https, or socks5$/);
  assert.match(refusal(cluster('::')), /invalid 'proxy-url' "::" for cluster "c": could not parse: ::$/);
});

test('nothing is read of what follows a configuration in JSON', () => {
  const json = JSON.stringify({ clusters: [{ name: 'a}"', cluster: { server: 'https://a' } }] });
  for (const after of [' text', ' {"clusters": 1}', '\n---\na: b', ' ]', ',']) {
    assert.deepEqual([...parseKubeconfig(`\n ${json}${after}`, '/c').clusters.keys()], ['a}"']);
  }
  assert.throws(() => parseKubeconfig('clusters: [] text', '/c'), /error loading config file/);
});

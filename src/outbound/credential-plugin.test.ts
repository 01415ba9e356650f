import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { CredentialPlugin, type CredentialPluginOptions } from './credential-plugin.js';

const V1 = 'client.authentication.k8s.io/v1';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'credential-plugin-'));
after(() => fs.rmSync(folder, { recursive: true }));

const plugin = (script: string, options: Partial<CredentialPluginOptions> = {}): CredentialPlugin =>
  new CredentialPlugin({
    command: 'sh',
    args: ['-c', script],
    env: {},
    apiVersion: V1,
    needsTerminal: false,
    installHint: '',
    nowMs: () => 0,
    ...options,
  });
const says = (status: object | undefined, apiVersion = V1): string =>
  `echo '${JSON.stringify({ kind: 'ExecCredential', apiVersion, status })}'`;
const failureOf = (asked: CredentialPlugin): Promise<string> =>
  asked.get().then(
    () => 'none',
    (error: Error) => error.message.replace('getting credentials: ', ''),
  );

test('it runs once for concurrent callers, and again when its credentials expire or are rejected', async () => {
  const runs = path.join(folder, 'runs');
  let nowMs = 0;
  const expirationTimestamp = '1970-01-01T00:01:00Z';
  const asked = plugin(`echo run >> ${runs}; ${says({ token: 't', expirationTimestamp })}`, { nowMs: () => nowMs });
  const count = (): number => fs.readFileSync(runs, 'utf8').trim().split('\n').length;
  assert.deepEqual(
    (await Promise.all([asked.get(), asked.get(), asked.get()])).map(({ token }) => token),
    ['t', 't', 't'],
  );
  await asked.get();
  assert.equal(count(), 1);
  nowMs = 60_001;
  await asked.get();
  assert.equal(count(), 2);
  nowMs = 0;
  asked.refused(await asked.get());
  await asked.get();
  assert.equal(count(), 3);
});

test('its environment has the ExecCredential, and the variables of its configuration', async () => {
  const script = `printf '{"kind":"ExecCredential","apiVersion":"${V1}","status":{"token":"%s %s"}}' "$WORD" "$(echo "$KUBERNETES_EXEC_INFO" | tr -d '"')"`;
  const { token } = await plugin(script, { env: { WORD: 'hello' }, cluster: { server: 'x' } }).get();
  assert.equal(token, `hello {kind:ExecCredential,apiVersion:${V1},spec:{interactive:false,cluster:{server:x}}}`);
});

test('a certificate comes with its key', async () => {
  const { tls, token } = await plugin(says({ clientCertificateData: 'c', clientKeyData: 'k' })).get();
  assert.deepEqual([tls, token], [{ cert: 'c', key: 'k' }, '']);
});

test('a malformed answer is an error, and the next call runs the plugin again', async () => {
  const failures: [CredentialPlugin, string | RegExp][] = [
    [plugin('', { command: 'no-such-program' }), 'exec: executable no-such-program not found'],
    [
      plugin('', { command: 'no-such-program', installHint: 'get it' }),
      'exec: executable no-such-program not found\n\nget it',
    ],
    [plugin('exit 7'), 'exec: executable sh failed with exit code 7'],
    [plugin('kill -9 $$'), 'exec: executable sh failed with exit code -1'],
    [plugin('echo what?'), /^decoding stdout: /],
    [plugin('echo 1'), 'decoding stdout: no ExecCredential'],
    [plugin(says(undefined)), "exec plugin didn't return a status field"],
    [plugin(says({})), "exec plugin didn't return a token or cert/key pair"],
    [plugin(says({ clientKeyData: 'k' })), 'exec plugin returned only certificate or key, not both'],
    [plugin(says({ token: 't', expirationTimestamp: 'soon' })), /is no time$/],
    [plugin('head -c 3000000 /dev/zero; sleep 60'), 'exec: executable sh said more than 1048576 bytes'],
    [
      plugin('', { needsTerminal: true }),
      'exec plugin cannot support interactive mode: standard input is not a terminal',
    ],
    [
      plugin(says({ token: 't' }, `${V1}beta1`)),
      `exec plugin is configured to use API version ${V1}, plugin returned version ${V1}beta1`,
    ],
  ];
  for (const [asked, why] of failures) {
    const failure = await failureOf(asked);
    if (typeof why === 'string') assert.equal(failure, why);
    else assert.match(failure, why);
    assert.equal(asked.known, undefined);
  }
});

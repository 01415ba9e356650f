// runs-on: every-node
// Command lines that cannot be served are refused with one line that says why, before anything is written.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { freePort } from './support/free-port.js';
import { withWorkers } from './support/worker-flags.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();

interface Refused {
  readonly flags: readonly string[];
  /** What the one line must name: the flag or file, and the field. */
  readonly says: readonly (string | RegExp)[];
  /** Files that flags name, by their name in `{dir}`. */
  readonly files?: Readonly<Record<string, string>>;
}

const kind = (name: string, version: string, rest: string): string => `apiVersion: ${version}\nkind: ${name}\n${rest}`;
const APISERVER = 'apiserver.config.k8s.io';

const TABLE: readonly Refused[] = [
  { flags: ['--secure-prot=1'], says: ['--secure-prot'] },
  { flags: ['--secure-port=many'], says: ['--secure-port', 'many'] },
  { flags: ['--secure-port=0'], says: ['--secure-port 0'] },
  { flags: ['--feature-gates=NoSuchGate=true'], says: ['NoSuchGate'] },
  { flags: ['--emulated-version=1.20'], says: ['1.20'] },
  { flags: ['--runtime-config=apps/v7=true'], says: ['apps/v7'] },
  { flags: ['--service-cluster-ip-range=10.0.0.0/99'], says: ['service-cluster-ip-range[0]'] },
  { flags: ['--authorization-mode=Perhaps'], says: ['Perhaps'] },
  { flags: ['--enable-admission-plugins=NoSuchPlugin'], says: ['NoSuchPlugin'] },
  { flags: ['--tls-cert-file={dir}/no.crt', '--tls-private-key-file={dir}/no.key'], says: ['{dir}/no.crt'] },
  {
    flags: ['--tls-cert-file={dir}/x.crt', '--tls-private-key-file={dir}/x.key'],
    files: { 'x.crt': 'none', 'x.key': 'none' },
    says: ['--tls-cert-file', '{dir}/x.crt', 'failed to find any PEM data in certificate input'],
  },
  {
    flags: ['--tls-sni-cert-key={dir}/x.crt,{dir}/x.key'],
    files: { 'x.crt': 'none', 'x.key': 'none' },
    says: ['--tls-sni-cert-key', '{dir}/x.crt,{dir}/x.key', 'failed to find any PEM data in certificate input'],
  },
  { flags: ['--tls-min-version=VersionTLS99'], says: ['--tls-min-version', 'VersionTLS99'] },
  { flags: ['--tls-cipher-suites=TLS_NONE'], says: ['--tls-cipher-suites', 'TLS_NONE'] },
  { flags: ['--client-ca-file={dir}/no.crt'], says: ['{dir}/no.crt'] },
  { flags: ['--token-auth-file={dir}/tokens'], files: { tokens: 'token,user\n' }, says: ['{dir}/tokens'] },
  { flags: ['--service-account-key-file={dir}/no.key'], says: ['service-account'] },
  {
    flags: ['--feature-gates=UnknownVersionInteroperabilityProxy=true', '--peer-ca-file={dir}/no.crt'],
    says: ['--peer-ca-file', 'proxy-cert-file'],
  },
  {
    flags: ['--audit-policy-file={dir}/policy'],
    files: { policy: kind('Policy', 'audit.k8s.io/v1', 'rules: [{level: Loud}]\n') },
    says: ['{dir}/policy', 'rules[0].level', 'Loud'],
  },
  { flags: ['--audit-webhook-version=a/b/c'], says: ['unexpected GroupVersion string: a/b/c'] },
  {
    flags: ['--encryption-provider-config={dir}/encryption'],
    files: { encryption: kind('EncryptionConfiguration', `${APISERVER}/v1`, 'resources: [{providers: []}]\n') },
    says: ['{dir}/encryption', 'resources[0]'],
  },
  {
    flags: ['--admission-control-config-file={dir}/admission'],
    files: { admission: kind('AdmissionConfiguration', `${APISERVER}/v1`, 'plugin: []\n') },
    says: ['{dir}/admission', 'plugin'],
  },
  {
    flags: ['--authentication-config={dir}/authentication'],
    files: { authentication: kind('AuthenticationConfiguration', `${APISERVER}/v1`, 'jwt: [{issuer: {url: "x"}}]\n') },
    says: ['{dir}/authentication', 'jwt[0].issuer.url'],
  },
  {
    flags: ['--authorization-config={dir}/authorization'],
    files: { authorization: kind('AuthorizationConfiguration', `${APISERVER}/v1`, 'authorizers: [{type: X}]\n') },
    says: ['{dir}/authorization', 'authorizers[0].type'],
  },
  {
    flags: ['--egress-selector-config-file={dir}/egress'],
    files: {
      egress: kind('EgressSelectorConfiguration', 'apiserver.k8s.io/v1beta1', 'egressSelections: [{name: moon}]\n'),
    },
    says: ['{dir}/egress', 'service.connection', 'moon'],
  },
  { flags: ['--tracing-config-file={dir}/no.yaml'], says: ['{dir}/no.yaml'] },
  ...[[], ['--workers=2']].map((workers) => ({
    flags: ['--secure-port={busy}', ...workers],
    says: ['failed to listen on 127.0.0.1:{busy}: listen tcp 127.0.0.1:{busy}: bind: address already in use'],
  })),
  {
    flags: ['--bind-address=192.0.2.1'],
    says: ['failed to listen on 192.0.2.1:', 'bind: cannot assign requested address'],
  },
  { flags: ['--audit-log-path={dir}/no/folder/audit.log', '--audit-policy-file={dir}/none'], says: ['{dir}/none'] },
];

describe('a start that is refused', { timeout: 120_000 }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-refused-'));
  const busy = net.createServer();
  before(() => new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve)));
  after(() => {
    busy.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  for (const [i, { flags, files = {}, says }] of TABLE.entries()) {
    it(`${flags.join(' ')} is reported in one line, and leaves nothing behind`, async () => {
      const dir = path.join(folder, String(i));
      fs.mkdirSync(dir);
      for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(dir, name), text);
      const port = String((busy.address() as net.AddressInfo).port);
      const filled = (text: string): string => text.replaceAll('{dir}', dir).replaceAll('{busy}', port);
      const usual = [
        '--bind-address=127.0.0.1',
        '--service-cluster-ip-range=10.0.0.0/24',
        '--audit-log-path={dir}/audit.log',
      ];
      const places = ['--data-dir={dir}/data', '--cert-dir={dir}/certs', '--debug-socket-path={dir}/debug.sock'];
      const untouched = contents(dir);
      const { code, text } = await run([...usual, ...places, ...flags].map(filled));
      const lines = text.trimEnd().split('\n');
      assert.equal(code, 1, text);
      const problems = lines.filter((line) => !/^(I|W)\d{4} |^Did you mean|^Flag --/.test(line));
      assert.equal(problems.length, 1, text);
      for (const each of says) {
        assert.ok(typeof each === 'string' ? text.includes(filled(each)) : each.test(text), `${String(each)}: ${text}`);
      }
      assert.deepEqual(contents(dir), untouched, 'nothing is written');
    });
  }

  it('an unknown way to keep the endpoints, or a file that is missing, ends the start once the store is there', async () => {
    const missing = /open \/none: no such file/;
    for (const [name, expected, says, ...flags] of [
      ['reconciler', 255, /--endpoint-reconciler-type: .*guess/, '--endpoint-reconciler-type=guess'],
      ['kubelets', 255, missing, '--kubelet-certificate-authority=/none'],
      ['proxy', 1, missing, '--proxy-client-cert-file=/none', '--proxy-client-key-file=/none'],
    ] as const) {
      const dir = path.join(folder, name);
      const serving = ['--bind-address=127.0.0.1', `--secure-port=${await freePort()}`];
      const places = [`--data-dir=${dir}/data`, `--cert-dir=${dir}/certs`];
      const { code, text } = await run([...serving, ...places, ...flags]);
      assert.equal(code, expected, text);
      assert.match(text, says);
    }
  });

  it('mutating policies whose version is not served end the start as one without a way back', async () => {
    const gates = '--feature-gates=MutatingAdmissionPolicy=true';
    for (const [name, served] of [
      ['none', []],
      ['older', ['--runtime-config=admissionregistration.k8s.io/v1alpha1=true']],
    ] as const) {
      const dir = path.join(folder, `policies-${name}`);
      const serving = ['--bind-address=127.0.0.1', `--secure-port=${await freePort()}`];
      const places = [`--data-dir=${dir}/data`, `--cert-dir=${dir}/certs`];
      const { code, text } = await run([...serving, ...places, gates, ...served]);
      assert.equal(code, 255, text);
      assert.match(text, /MutatingAdmissionPolicy .* admissionregistration\.k8s\.io\/v1beta1 .*--runtime-config/);
    }
  });
});

function run(flags: readonly string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(path.join(root, 'bin', 'binnacle'), withWorkers(flags), {
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, text }));
  });
}

/** Every file below, with what is in it. */
const contents = (dir: string): string[] =>
  (fs.readdirSync(dir, { recursive: true }) as string[]).sort().map((name) => {
    const file = path.join(dir, name);
    return fs.statSync(file).isFile() ? `${name}: ${fs.readFileSync(file, 'utf8')}` : name;
  });

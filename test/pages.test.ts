// Pages whose commands are run as they stand, in order, each page on a machine of its own: what a page shows is what is printed.
// The page on production has a test of its own.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { kubectlProgram, NO_KUBECTL } from './support/kubectl.js';
import { Machines, whyNoMachines } from './support/machines.js';
import { commandsOf, isAsShown, type Step } from './support/page-commands.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const ADDRESS = '192.0.2.10';
/** What stays in its terminal, and by what is seen that it serves. */
const SERVING: readonly (readonly [RegExp, string])[] = [
  [/npm start$/, 'curl -skf https://127.0.0.1:6443/readyz'],
  [/^bin\/binnacle (?:…|--)/, `{ curl -sk https://127.0.0.1:6443/ || curl -sk https://${ADDRESS}:6443/; }`],
  [/^node tools\/example-issuer/, 'test -e /tmp/acme/ca.crt && curl -sk https://127.0.0.1:8443/'],
  [/^node hook\.mjs/, ': </dev/tcp/127.0.0.1/9443'],
  [/serve-clusters/, 'true'],
];

interface Page {
  readonly file: string;
  /** What the page leaves to its reader, before its first command. */
  readonly before?: string;
  /** What it says in words at the beginning of a section. */
  readonly inWords?: Readonly<Record<string, string>>;
  /** What stands for `…` in the command of a server. */
  readonly flags?: string;
  /** What is waited for once it serves. */
  readonly isReady?: string;
}

const ONE_SERVER = `binnacle up
export KUBECONFIG=/root/.local/state/binnacle/admin.kubeconfig
until kubectl get serviceaccount default; do sleep 0.1; done`;

const ADMINISTRATOR = 'export KUBECONFIG=/var/lib/binnacle/admin.kubeconfig';
const FLAGS = `--service-cluster-ip-range=10.0.0.0/24 --controllers='*'`;
const IS_READY = 'kubectl get --raw /readyz && kubectl get serviceaccount default';

/** What the Debian package does, and a folder for backups. */
const INSTALLED = `adduser --system --group --quiet --home /var/lib/binnacle binnacle
mkdir /etc/binnacle /backup
cp /srv/packaging/debian/flags /etc/binnacle/
cp /srv/packaging/debian/binnacle.service /usr/lib/systemd/system/
ln -s /usr/local/bin/binnacle /usr/bin/binnacle
systemctl start binnacle`;

/** Two secrets encrypted with the first key, and then another key before it. */
const SECOND_KEY = `mkdir /etc/binnacle
keys() { # KEYS
  cat >/etc/binnacle/encryption.yaml <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [aesgcm: { keys: [$1] }, identity: {}] }]
EOF
}
key1="{ name: key1, secret: $(openssl rand -base64 32) }"
keys "$key1"
binnacle up --data-dir=/var/lib/binnacle --encryption-provider-config=/etc/binnacle/encryption.yaml \\
  --encryption-provider-config-automatic-reload
for each in a b; do kubectl --kubeconfig=/var/lib/binnacle/admin.kubeconfig create secret generic $each; done
keys "{ name: key2, secret: $(openssl rand -base64 32) }, $key1"
until binnacle encryption status --kubeconfig=/var/lib/binnacle/admin.kubeconfig | grep key2; do sleep 0.1; done`;

const PAGES: readonly Page[] = [
  { file: 'README.md' },
  { file: 'docs/tutorials/first-server.md' },
  { file: 'docs/tutorials/login-with-oidc.md' },
  {
    file: 'docs/how-to/webhooks.md',
    before: ONE_SERVER,
    inWords: { 'When it fails': 'kill $(pgrep -f hook.mjs); while pgrep -f hook.mjs; do sleep 0.1; done' },
  },
  {
    file: 'docs/how-to/audit-policy.md',
    before: ADMINISTRATOR,
    flags: `--data-dir=/var/lib/binnacle ${FLAGS}`,
    isReady: IS_READY,
  },
  {
    file: 'docs/how-to/harden.md',
    before: `${ADMINISTRATOR}
mkdir /etc/binnacle
echo '{"apiVersion":"audit.k8s.io/v1","kind":"Policy","rules":[{"level":"Metadata"}]}' >/etc/binnacle/audit-policy.yaml
cat >/etc/binnacle/encryption.yaml <<EOF
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources: [{ resources: [secrets], providers: [secretbox: { keys: [{ name: a, secret: $(openssl rand -base64 32) }] }] }]
EOF`,
    flags: `--data-dir=/var/lib/binnacle ${FLAGS}`,
    isReady: IS_READY,
  },
  { file: 'docs/how-to/embedded-store.md', before: INSTALLED },
  { file: 'docs/how-to/rotate-encryption-keys.md', before: SECOND_KEY },
  { file: 'docs/reference/commands.md', before: INSTALLED },
  { file: 'docs/reference/expressions.md', before: ONE_SERVER },
  { file: 'docs/reference/limits.md', before: `${ONE_SERVER}\nhead -c 4000000 /dev/zero >4-megabytes` },
  { file: 'docs/reference/tls.md', before: ONE_SERVER },
];

describe('the commands of', { skip: whyNot(), timeout: 300_000 }, () => {
  for (const page of PAGES) {
    describe(page.file, () => {
      const steps = commandsOf(fs.readFileSync(path.join(root, page.file), 'utf8'));
      let folder: string;
      let machines: Machines;
      let serving = 0;
      before(async () => {
        folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-page-'));
        machines = Machines.start({
          folder,
          shared: root,
          addresses: [ADDRESS],
          files: new Map([[ADDRESS, PROGRAMS]]),
        });
        await machines.run('for each in bin tools examples package.json; do ln -s /srv/$each .; done');
        if (page.before !== undefined) await machines.run(page.before);
      });
      after(async () => {
        await machines.close();
        fs.rmSync(folder, { recursive: true, force: true });
      });

      for (const section of new Set(steps.map((step) => step.section))) {
        it(`do what it says under "${section}"`, async () => {
          const inWords = page.inWords?.[section];
          if (inWords !== undefined) await machines.run(inWords);
          for (const step of steps.filter((one) => one.section === section)) await runStep(step);
        });
      }

      async function runStep({ command, output }: Step): Promise<void> {
        const [, isServing] = SERVING.find(([pattern]) => pattern.test(command)) ?? [];
        if (isServing !== undefined) return serve(command, isServing, output);
        // Where the page shows what is printed, that decides, and not whether the command succeeds.
        const printed = await machines.run(output === undefined ? command : `set +e\n${command}\nset -e`);
        const message = (): string => `${command}\n\nprints\n\n${printed}\ninstead of\n\n${output}`;
        if (output !== undefined) assert.ok(isAsShown(output, printed), message());
      }

      async function serve(command: string, isServing: string, output?: string): Promise<void> {
        const log = `/var/log/served-${serving++}`;
        const words = command.replace('…', page.flags ?? '');
        await machines.run(`{ ${words}\n} >${log} 2>&1 &`);
        const isReady = page.isReady === undefined ? isServing : `${isServing} && ${page.isReady}`;
        await machines.run(
          `until { ${isReady}; } >/dev/null 2>&1; do kill -0 $! || { cat ${log}; exit 1; }; sleep 0.1; done`,
        );
        if (output === undefined) return;
        // It goes on to log.
        const shown = `${output.trimEnd()}…`;
        await pollUntil(() => isAsShown(shown, fs.readFileSync(machines.file(ADDRESS, log), 'utf8')));
      }
    });
  }
});

/** The programs of the checkout, and npm as it is after `npm ci`. */
const PROGRAMS = {
  'usr/local/bin/binnacle': '#!/bin/sh\nexec node /srv/bin/binnacle "$@"\n',
  'usr/local/bin/kubectl': '#!/bin/sh\nexec /srv/.cache/bin/kubectl "$@"\n',
  'usr/local/bin/systemctl': fs.readFileSync(path.join(root, 'test/support/machine-programs/systemctl'), 'utf8'),
  'usr/local/bin/npm':
    '#!/bin/sh\ncase $1 in ci) exit 0 ;; start) exec node bin/binnacle up --foreground ;; esac\nexit 1\n',
};

function whyNot(): string | false {
  if (kubectlProgram() !== path.join(root, '.cache', 'bin', 'kubectl')) return NO_KUBECTL;
  return whyNoMachines();
}

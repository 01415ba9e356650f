// The page on production, run as it stands: its commands, in order, on machines with the addresses that it names. What is not
// there is stood in for by test/support/machine-programs (SSH, apt, systemd) and tools/example-issuer.mjs.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { Machines, whyNoMachines } from './support/machines.js';
import { commandsOf, type Step } from './support/page-commands.js';

const root = process.env['BINNACLE_ROOT'] ?? process.cwd();
const ADMIN = '192.0.2.1';
const ISSUER = '192.0.2.30';
const ADDRESSES = [ADMIN, '192.0.2.10', '192.0.2.11', '192.0.2.12', '192.0.2.21', '192.0.2.22', '192.0.2.23', ISSUER];
const PROGRAMS = { kubectl: 'kubectl', 'etcd-3.5': 'etcd', etcdctl: 'etcdctl', haproxy: 'haproxy' };

describe('the page on production', { skip: whyNot(), timeout: 600_000 }, () => {
  const steps = commandsOf(fs.readFileSync(path.join(root, 'docs/how-to/production.md'), 'utf8'));
  let folder: string;
  let machines: Machines;
  before(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-production-'));
    fs.chmodSync(folder, 0o755);
    const shared = path.join(folder, 'shared');
    fs.mkdirSync(shared);
    for (const [name, as] of Object.entries(PROGRAMS)) {
      fs.copyFileSync(path.join(root, '.cache', 'bin', name), path.join(shared, as));
    }
    fs.cpSync(path.join(root, '.cache', 'bin', 'lib'), path.join(shared, 'lib'), { recursive: true });
    fs.copyFileSync(path.join(root, 'tools/example-issuer.mjs'), path.join(shared, 'example-issuer.mjs'));
    execFileSync(process.execPath, ['tools/package-debian.mjs', '--draft', '--out', shared], { cwd: root });
    const shims = path.join(root, 'test/support/machine-programs');
    const programs = Object.fromEntries(
      fs.readdirSync(shims).map((name) => [`usr/local/bin/${name}`, fs.readFileSync(path.join(shims, name), 'utf8')]),
    );
    machines = Machines.start({
      folder,
      shared,
      addresses: ADDRESSES,
      files: new Map(ADDRESSES.map((each) => [each, programs])),
    });
    await machines.run('mv /srv/binnacle_*.deb .');
    await machines.run(
      `ssh root@${ISSUER} 'node /srv/example-issuer.mjs --address ${ISSUER} --folder /var/acme >/dev/null 2>&1 &'`,
    );
    const authority = machines.file(ISSUER, 'var/acme/ca.crt');
    await pollUntil(() => fs.existsSync(authority) && fs.readFileSync(authority, 'utf8').includes('END CERTIFICATE'));
    await machines.run(`scp root@${ISSUER}:/var/acme/ca.crt idp-ca.crt`);
  });
  after(async () => {
    await machines.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  for (const section of new Set(steps.map((step) => step.section))) {
    it(`does what it says under "${section}"`, async () => {
      for (const step of steps.filter((one) => one.section === section)) await runStep(step);
    });
  }

  async function runStep({ command, output }: Step): Promise<void> {
    const printed = await machines.run(command);
    if (output !== undefined) assert.equal(printed.trimEnd(), output, command);
  }
});

function whyNot(): string | false {
  const missing = Object.keys(PROGRAMS).filter((name) => !fs.existsSync(path.join(root, '.cache', 'bin', name)));
  if (missing.length > 0) return `run \`node tools/fetch-test-binaries.mjs\`: there is no ${missing.join(', ')}`;
  return whyNoMachines();
}

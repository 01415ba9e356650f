// runs-on: every-node
import { logTo } from '../../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { parseCommandLine } from '../../options/parse-command-line.js';
import { prepareCertificates } from './prepare-certificates.js';

test('the kubeconfig trusts what the server shows, made by our authority or not', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-prepare-'));
  const warnings: string[] = [];
  try {
    const trusted = (...flags: string[]): { shown: X509Certificate; ca: X509Certificate } => {
      const parsed = parseCommandLine([`--data-dir=${folder}/data`, ...flags], {});
      assert.ok(parsed.kind === 'run');
      const { serving, adminKubeconfig = '' } = prepareCertificates(
        parsed.options,
        Date.now(),
        logTo((text) => warnings.push(text)),
      );
      const data = /certificate-authority-data: (\S+)/.exec(fs.readFileSync(adminKubeconfig, 'utf8'))?.[1] ?? '';
      return {
        shown: new X509Certificate(fs.readFileSync(serving.certFile)),
        ca: new X509Certificate(Buffer.from(data, 'base64')),
      };
    };
    const own = trusted();
    assert.ok(own.shown.verify(own.ca.publicKey));
    const selfSigned = trusted(`--cert-dir=${folder}/certs`);
    assert.ok(selfSigned.shown.verify(selfSigned.ca.publicKey));
    assert.ok(!selfSigned.shown.verify(own.ca.publicKey));
    assert.deepEqual(warnings, []);
    const damaged = path.join(folder, 'data', 'pki', 'ca.crt');
    fs.writeFileSync(damaged, 'no certificate');
    const anew = trusted();
    assert.ok(anew.shown.verify(anew.ca.publicKey));
    assert.deepEqual(warnings, [`${damaged} could not be used any more and was made anew: clients need the new one`]);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
});

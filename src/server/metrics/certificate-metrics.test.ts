import assert from 'node:assert/strict';
import { test } from 'node:test';
import { observeIssued } from '../../apis/certificates/issued-duration.js';
import { generateKeys, issueCertificate } from '../../lib/x509/issue-certificate.js';
import { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { LifeContext } from '../../registry/kind.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { createIssuedMetrics } from './certificate-metrics.js';

const HOUR_SECONDS = 3600;
const keys = generateKeys();
const subject = { commonName: 'a' };

function request(signerName: string, certificate?: string): CertificateSigningRequest {
  const spec = { signerName, expirationSeconds: HOUR_SECONDS, request: '', usages: [] };
  return { metadata: { name: 'r' }, spec, status: certificate === undefined ? {} : { certificate } };
}

function certificateFor(seconds: number): string {
  const notBeforeMs = Date.UTC(2026, 0, 1);
  const notAfterMs = notBeforeMs + seconds * 1000;
  const issuer = { subject, keys };
  const pem = issueCertificate({ subject, publicKey: keys.publicKey, issuer, use: 'client', notBeforeMs, notAfterMs });
  return Buffer.from(pem).toString('base64');
}

test('certificates that were wanted for some time are counted once they are issued, and whether they got it', async () => {
  const registry = new MetricRegistry();
  const begin = observeIssued(createIssuedMetrics(registry));
  const write = async (object: CertificateSigningRequest, old: CertificateSigningRequest, dryRun = false) =>
    (await begin(object, old, { dryRun } as LifeContext))?.commit();
  const KUBERNETES = 'kubernetes.io/kube-apiserver-client';
  // Backdated by five minutes less one second, and a day too long.
  const near = certificateFor(HOUR_SECONDS + 299);
  const far = certificateFor(HOUR_SECONDS * 25);
  await write(request(KUBERNETES, near), request(KUBERNETES));
  await write(request('example.test/s', far), request('example.test/s'));
  await write(request('example.test/s', near), request('example.test/s', far));
  await write(request(KUBERNETES, near), request(KUBERNETES), true);
  await write(request(KUBERNETES), request(KUBERNETES));
  const { expirationSeconds: _unsaid, ...spec } = request(KUBERNETES).spec;
  await write(request(KUBERNETES, near), { ...request(KUBERNETES), spec });
  const lines = registry.text().split('\n');
  const prefix = 'apiserver_certificates_registry_csr_';
  assert.deepEqual(
    lines.filter((line) => line.startsWith(prefix)).map((line) => line.slice(prefix.length)),
    [
      `honored_duration_total{signerName="${KUBERNETES}"} 1`,
      `requested_duration_total{signerName="${KUBERNETES}"} 1`,
      'requested_duration_total{signerName="other"} 1',
    ],
  );
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { certificateNotes } from './certificate-notes.js';

test('a certificate that is out of date is counted and noted on the request, by the host it was met at', () => {
  const registry = new MetricRegistry();
  const noted: string[] = [];
  const note = certificateNotes(registry, 'webhooks')((key, value) => void noted.push(`${key}: ${value}`));
  note('missing-san', 'hook.example.test');
  note('insecure-sha1', '10.0.0.1');
  assert.deepEqual(noted, [
    'missing-san.invalid-cert.kubernetes.io/hook.example.test: relies on a legacy Common Name field instead of the SAN extension for subject validation',
    'insecure-sha1.invalid-cert.kubernetes.io/10.0.0.1: uses an insecure SHA-1 signature',
  ]);
  assert.match(registry.text(), /^apiserver_webhooks_x509_missing_san_total 1$/m);
  assert.match(registry.text(), /^apiserver_webhooks_x509_insecure_sha1_total 1$/m);
});

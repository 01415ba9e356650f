import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fieldErrorText } from '../../machinery/field-error.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { validateCsr, validateCsrUpdate } from './csr-validation.js';

const pem = execFileSync(
  'openssl',
  'req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout /dev/null -subj /O=dev/CN=jane'.split(' '),
  { stdio: ['ignore', 'pipe', 'ignore'] },
).toString();

const requestOf = (text: string): CertificateSigningRequest => ({
  metadata: { name: 'r' },
  spec: {
    request: Buffer.from(text).toString('base64'),
    signerName: 'example.test/signer',
    usages: ['client auth'],
  },
  status: {},
});
const texts = (request: CertificateSigningRequest) => validateCsr(request).map(fieldErrorText);

test('a request signed by its own key is good; one that was touched is not', () => {
  assert.deepEqual(texts(requestOf(pem)), []);
  const body = Buffer.from(pem.split('\n').slice(1, -2).join(''), 'base64');
  // The last letter of the common name.
  const at = body.indexOf('jane') + 3;
  body[at] = 'f'.charCodeAt(0);
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${body.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
  assert.match(
    texts(requestOf(forged)).join(),
    /^spec.request: Invalid value: ".*": x509: ECDSA verification failure$/,
  );
  assert.match(texts(requestOf('x')).join(), /PEM block type must be CERTIFICATE REQUEST$/);
});

test('an approval is added by the approval endpoint only, and never together with a denial', () => {
  const old = requestOf(pem);
  const condition = (type: string) => ({ type, status: 'True', lastUpdateTime: null, lastTransitionTime: null });
  const approved = { ...old, status: { conditions: [condition('Approved')] } };
  const update = (object: CertificateSigningRequest, from: CertificateSigningRequest, mayApprove: boolean) =>
    validateCsrUpdate(object, from, { maySetCertificate: true, mayApprove }).map(fieldErrorText);
  assert.deepEqual(update(approved, old, true), []);
  assert.deepEqual(update(approved, old, false), [
    'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
  ]);
  assert.deepEqual(update(old, approved, true), [
    'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
  ]);
  const both = { ...old, status: { conditions: [condition('Approved'), condition('Denied')] } };
  assert.deepEqual(update(both, approved, true), [
    'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
  ]);
});

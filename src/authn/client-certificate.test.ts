import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../lib/http/http.js';
import { AuthenticationError } from './authenticator.js';
import { type CertificateVerifier, createCertificateAuthenticator } from './client-certificate.js';

const request = { clientCertificates: [Buffer.from('of another authority')] } as unknown as HttpRequest;

function authenticating(ignoresOthers: boolean, error: Error): () => unknown {
  const verifier: CertificateVerifier = {
    verify: () => {
      throw error;
    },
  };
  const authenticator = createCertificateAuthenticator({ verifier, parseUid: false, ignoresOthers });
  return () => authenticator.authenticate(request);
}

test('a certificate that is not verified is refused', () => {
  assert.throws(authenticating(false, new AuthenticationError('unknown authority')), AuthenticationError);
});

test('a certificate of another authority is as none where no authority was named', () => {
  assert.equal(authenticating(true, new AuthenticationError('unknown authority'))(), undefined);
  assert.throws(authenticating(true, new TypeError('a bug')), TypeError);
});

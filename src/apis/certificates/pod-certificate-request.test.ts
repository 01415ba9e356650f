import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCertificateRequest } from '../../schema/generated/certificates.v1alpha1.js';
import { podCertificateRequest } from './pod-certificate-request.js';

const nobody = {
  authorize: () => ({ decision: 'no-opinion' as const, reason: '' }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
};

test('a request that does not say how long its certificate may last asks for a day', () => {
  const [version] = podCertificateRequest(nobody).versions;
  const asks = (maxExpirationSeconds?: number): number | undefined => {
    const request = { metadata: {}, spec: { maxExpirationSeconds } } as unknown as PodCertificateRequest;
    version?.defaults?.(request);
    return request.spec.maxExpirationSeconds;
  };
  assert.deepEqual([asks(), asks(7200)], [86_400, 7200]);
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Authorizer } from '../authz/authorizer.js';
import { refusal, testAttributes } from './test-attributes.js';
import { certificateApproval } from './plugins/certificate-approval.js';
import { certificateSigning } from './plugins/certificate-signing.js';
import { clusterTrustBundleAttest } from './plugins/cluster-trust-bundle-attest.js';

const allowing = (verb: string, name: string): Authorizer => ({
  authorize: (attributes) => ({
    decision: attributes.verb === verb && attributes.name === name ? 'allow' : 'deny',
    reason: '',
  }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
});
const REQUESTS = 'certificatesigningrequests.certificates.k8s.io';
const old = { metadata: { name: 'c' }, spec: { signerName: 'example.com/s' }, status: {} };

test('approving requires the right to approve for the signer or its domain', async () => {
  const attributes = testAttributes({ resource: REQUESTS, subresource: 'approval', old, object: old });
  assert.equal(
    await refusal(certificateApproval(allowing('sign', 'example.com/s')), attributes),
    `${REQUESTS} "c" is forbidden: user not permitted to approve requests with signerName "example.com/s"`,
  );
  assert.equal(await refusal(certificateApproval(allowing('approve', 'example.com/s')), attributes), undefined);
  assert.equal(await refusal(certificateApproval(allowing('approve', 'example.com/*')), attributes), undefined);
});

test('writing a certificate requires the right to sign; other parts of the status do not', async () => {
  const plugin = certificateSigning(allowing('approve', 'example.com/s'));
  const status = (object: object) => testAttributes({ resource: REQUESTS, subresource: 'status', old, object });
  const signed = { ...old, status: { certificate: 'Yw==' } };
  assert.match((await refusal(plugin, status(signed))) ?? '', /user not permitted to sign requests with signerName/);
  assert.equal(await refusal(plugin, status({ ...old, metadata: { name: 'c', labels: {} } })), undefined);
});

test('a bundle for a signer requires the right to attest, but not to collect garbage', async () => {
  const plugin = clusterTrustBundleAttest(allowing('attest', 'other.com/*'));
  const resource = 'clustertrustbundles.certificates.k8s.io';
  const bundle = { metadata: { name: 'b' }, spec: { signerName: 'example.com/s', trustBundle: 'x' } };
  const why = /user not permitted to attest for signerName "example.com\/s"$/;
  assert.match((await refusal(plugin, testAttributes({ resource, object: bundle }))) ?? '', why);
  const finalized = { ...bundle, metadata: { name: 'b', finalizers: ['x'] } };
  assert.equal(await refusal(plugin, testAttributes({ resource, old: finalized, object: bundle })), undefined);
});

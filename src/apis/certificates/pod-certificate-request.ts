import type { Authorizer } from '../../authz/authorizer.js';
import { signerQuestions } from '../../authz/signer-rights.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import { type FieldErrors, FieldPath, forbidden } from '../../machinery/field-error.js';
import type { UserInfo } from '../../machinery/user.js';
import { validateImmutableField } from '../../machinery/validation/fields.js';
import { NAME_COLUMN, column } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { PodCertificateRequest } from '../../schema/generated/certificates.v1alpha1.js';
import { keepMetaForStatus } from '../status-metadata.js';
import { validatePodCertificateRequest, validatePodCertificateStatus } from './pod-certificate-validation.js';

export const podCertificateRequest = (authorizer: Authorizer): KindDefinition<PodCertificateRequest> => ({
  group: 'certificates.k8s.io',
  kind: 'PodCertificateRequest',
  plural: 'podcertificaterequests',
  singular: 'podcertificaterequest',
  namespaced: true,
  gate: 'PodCertificateRequest',
  versions: [{ version: 'v1alpha1', enabledByDefault: false, defaults: defaultLifetime }],
  storageVersion: 'v1alpha1',
  strategy: {
    allowUnconditionalUpdate: false,
    prepareForCreate(object) {
      object.status = {};
    },
    validate: validatePodCertificateRequest,
    prepareForUpdate(object, old) {
      object.status = structuredClone(old.status);
    },
    validateUpdate: (object, old) => validateImmutableField(object.spec, old.spec, FieldPath.of('spec')),
    status: {
      prepareForUpdate(object, old) {
        object.spec = structuredClone(old.spec);
        keepMetaForStatus(object.metadata, old.metadata);
      },
      validateUpdate(object, old, context) {
        const errors = validatePodCertificateStatus(object, old, context.now());
        if (errors.length > 0 || deepEqual(object.status, old.status)) return errors;
        return checkSigner(authorizer, context.user, old.spec.signerName);
      },
    },
    resetFields: { '': [], status: [['spec']] },
  },
  selection: {
    fields: ({ spec }) => ({
      'spec.signerName': spec.signerName,
      'spec.podName': spec.podName,
      'spec.nodeName': spec.nodeName,
    }),
  },
  subresources: { status: { kind: 'PodCertificateRequest', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('PodName', 'The pod the certificate is for.'),
      column('ServiceAccountName', 'The service account the pod runs as.'),
      column('NodeName', 'The node the pod runs on.'),
      column('SignerName', 'The signer that is asked for the certificate.'),
      column('State', 'Is the request Pending, Issued, Denied, or Failed?'),
    ],
    row: ({ metadata, spec, status }) => [
      metadata.name ?? '',
      spec.podName,
      spec.serviceAccountName,
      spec.nodeName,
      spec.signerName,
      (status.conditions ?? []).findLast(({ type }) => ['Issued', 'Denied', 'Failed'].includes(type))?.type ??
        'Pending',
    ],
  },
});

/**
 * Issuing is for those who may sign as this signer. Validation cannot wait: an authorizer that has to wait counts
 * as one that does not allow.
 */
function checkSigner(authorizer: Authorizer, user: UserInfo, signerName: string): FieldErrors {
  const answers = signerQuestions(user, 'sign', signerName).map((question) => authorizer.authorize(question));
  if (answers.some((answer) => !(answer instanceof Promise) && answer.decision === 'allow')) return [];
  const text = `User ${goQuote(user.name)} is not permitted to "sign" for signer ${goQuote(signerName)}`;
  return [forbidden(FieldPath.of('spec', 'signerName'), text)];
}

const DAY_SECONDS = 86_400;

function defaultLifetime({ spec }: PodCertificateRequest): void {
  spec.maxExpirationSeconds ??= DAY_SECONDS;
}

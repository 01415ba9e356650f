import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import { humanDuration } from '../../lib/text/human-duration.js';
import type { KindDefinition, LifeContext } from '../../registry/kind.js';
import { timestamp } from '../../registry/registry.js';
import type { CertificateSigningRequest } from '../../schema/generated/certificates.v1.js';
import { conditionsOf, validateCsr, validateCsrUpdate } from './csr-validation.js';

export const certificateSigningRequest: KindDefinition<CertificateSigningRequest> = {
  group: 'certificates.k8s.io',
  kind: 'CertificateSigningRequest',
  plural: 'certificatesigningrequests',
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  namespaced: false,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true, validateName: () => [] },
    prepareForCreate: setRequestor,
    validate: validateCsr,
    // Only metadata changes here: a request stays what it was when its reviewer saw it.
    prepareForUpdate(object, old) {
      object.spec = structuredClone(old.spec);
      object.status = structuredClone(old.status);
    },
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validateCsrUpdate(object, old, { maySetCertificate: false, mayApprove: false }),
      ...change,
    ],
    status: {
      metadataRules: { placedOnUpdate: true },
      prepareForUpdate(object, old, context) {
        object.spec = structuredClone(old.spec);
        keepApprovals(object, old);
        setConditionTimes(object, old, context.now());
      },
      validateUpdate: (object, old, _context, { whole, change }) => [
        ...whole,
        ...validateCsrUpdate(object, old, { maySetCertificate: true, mayApprove: false }),
        ...change,
      ],
    },
    resetFields: {
      '': [['spec'], ['status']],
      status: [['spec'], ['status', 'conditions']],
      approval: [['spec'], ['status', 'certificate']],
    },
  },
  selection: { fields: ({ spec }) => ({ 'spec.signerName': spec.signerName }) },
  subresources: {
    status: { kind: 'CertificateSigningRequest', verbs: ['get', 'patch', 'update'] },
    approval: {
      kind: 'CertificateSigningRequest',
      verbs: ['get', 'patch', 'update'],
      update: {
        tables: false,
        metadataRules: { placedOnUpdate: true },
        prepareForUpdate(object, old, context) {
          setConditionTimes(object, old, context.now());
          const { conditions } = object.status;
          object.spec = structuredClone(old.spec);
          object.status = { ...structuredClone(old.status), conditions };
          if (conditions === undefined) delete object.status.conditions;
        },
        validateUpdate: (object, old, _context, { whole, change }) => [
          ...whole,
          ...validateCsrUpdate(object, old, { maySetCertificate: false, mayApprove: true }),
          ...change,
        ],
      },
    },
  },
  table: {
    columns: [
      NAME_COLUMN,
      AGE_COLUMN,
      column('SignerName', 'The signer that is asked for the certificate.'),
      column('Requestor', 'The user who made the request.'),
      column('RequestedDuration', 'How long the certificate is wanted for.'),
      column('Condition', 'How far the request has come.'),
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      ageCell(object, now),
      object.spec.signerName || '<none>',
      object.spec.username ?? '',
      object.spec.expirationSeconds === undefined ? '<none>' : humanDuration(object.spec.expirationSeconds * 1000),
      progress(object),
    ],
  },
};

/** The requester is the authenticated user, never what the client writes. */
function setRequestor(object: CertificateSigningRequest, { user }: LifeContext): void {
  const { username: _u, uid: _i, groups: _g, extra: _e, ...spec } = object.spec;
  const extra = Object.fromEntries(Object.entries(user.extra ?? {}).map(([key, values]) => [key, [...(values ?? [])]]));
  object.spec = {
    ...spec,
    username: user.name,
    ...(user.uid === undefined ? {} : { uid: user.uid }),
    ...(user.groups.length === 0 ? {} : { groups: [...user.groups] }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  object.status = {};
}

/** A status update may repeat the approvals that are there in any form: the old ones stay. */
function keepApprovals(object: CertificateSigningRequest, old: Readonly<CertificateSigningRequest>): void {
  for (const type of ['Approved', 'Denied']) {
    const kept = structuredClone(conditionsOf(old, type));
    if (conditionsOf(object, type).length !== kept.length) continue;
    object.status.conditions = object.status.conditions?.map((condition) =>
      condition.type === type ? (kept.shift() ?? condition) : condition,
    );
  }
  if (object.status.conditions === undefined) delete object.status.conditions;
}

function setConditionTimes(
  object: CertificateSigningRequest,
  old: Readonly<CertificateSigningRequest>,
  now: Date,
): void {
  for (const condition of object.status.conditions ?? []) {
    condition.lastUpdateTime ??= timestamp(now);
    if (condition.lastTransitionTime !== null) continue;
    const same = conditionsOf(old, condition.type).find(
      ({ status, lastTransitionTime }) => status === condition.status && lastTransitionTime !== null,
    );
    condition.lastTransitionTime = same?.lastTransitionTime ?? timestamp(now);
  }
}

function progress(object: Readonly<CertificateSigningRequest>): string {
  const has = (type: string) => conditionsOf(object, type).length > 0;
  const verdict = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return `${verdict}${has('Failed') ? ',Failed' : ''}${object.status.certificate ? ',Issued' : ''}`;
}

import { append } from '../../lib/values/append.js';
import { parseCertificate } from '../../lib/x509/certificate.js';
import { decodePem } from '../../lib/x509/pem.js';
import { type FieldErrors, FieldPath, invalid, tooLong } from '../../machinery/field-error.js';
import { invalidEach, validateImmutableField } from '../../machinery/validation/fields.js';
import { nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import { NAME_COLUMN, column } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { ClusterTrustBundle } from '../../schema/generated/certificates.v1alpha1.js';
import { validateSignerName } from '../core/pod/validation/signer-names.js';

export const clusterTrustBundle: KindDefinition<ClusterTrustBundle> = {
  group: 'certificates.k8s.io',
  kind: 'ClusterTrustBundle',
  plural: 'clustertrustbundles',
  singular: 'clustertrustbundle',
  namespaced: false,
  gate: 'ClusterTrustBundle',
  versions: [
    { version: 'v1beta1', enabledByDefault: false },
    {
      version: 'v1alpha1',
      enabledByDefault: false,
      ...deprecated('certificates.k8s.io/v1alpha1 ClusterTrustBundle', { in: '1.34', removedIn: '1.37' }),
    },
  ],
  storageVersion: 'v1beta1',
  strategy: {
    metadataRules: {
      placedOnUpdate: true,
      // The name depends on the signer, so it is checked with the rest.
      validateName: () => [],
    },
    allowUnconditionalUpdate: false,
    validate: (object) => [...validateName(object), ...validate(object), ...validateBundle(object.spec.trustBundle)],
    validateUpdate: (object, old, _context, metadata) => [
      ...metadata.whole,
      ...validateName(object),
      ...validate(object),
      ...(object.spec.trustBundle === old.spec.trustBundle ? [] : validateBundle(object.spec.trustBundle)),
      ...metadata.change,
      ...validateImmutableField(object.spec.signerName ?? '', old.spec.signerName ?? '', SIGNER_PATH),
    ],
  },
  selection: { fields: ({ spec }) => ({ 'spec.signerName': spec.signerName ?? '' }) },
  table: {
    columns: [NAME_COLUMN, column('SignerName', 'The signer whose certificates the bundle verifies.')],
    row: ({ metadata, spec }) => [metadata.name ?? '', spec.signerName || '<none>'],
  },
};

const SIGNER_PATH = FieldPath.of('spec', 'signerName');
const MAX_BUNDLE_BYTES = 1024 * 1024;

function validate({ spec }: Readonly<ClusterTrustBundle>): FieldErrors {
  return spec.signerName ? validateSignerName(spec.signerName, SIGNER_PATH) : [];
}

/** `example.com:signer:name` for a bundle of the signer `example.com/signer`, a plain name without colons otherwise. */
function validateName({ metadata, spec }: Readonly<ClusterTrustBundle>): FieldErrors {
  const { name = '', generateName = '' } = metadata;
  const signer = spec.signerName ?? '';
  const errors: FieldErrors = [];
  if (generateName !== '') {
    append(
      errors,
      invalidEach(FieldPath.of('metadata', 'generateName'), generateName, nameMessages(generateName, signer, true)),
    );
  }
  if (name !== '')
    append(errors, invalidEach(FieldPath.of('metadata', 'name'), name, nameMessages(name, signer, false)));
  return errors;
}

function nameMessages(name: string, signerName: string, prefix: boolean): string[] {
  if (signerName === '') {
    if (name.includes(':')) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return nameIsDnsSubdomain(name, prefix);
  }
  const requiredPrefix = `${signerName.replaceAll('/', ':')}:`;
  if (!name.startsWith(requiredPrefix)) {
    return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${requiredPrefix}`];
  }
  return nameIsDnsSubdomain(name.slice(requiredPrefix.length), prefix);
}

function validateBundle(text: string): FieldErrors {
  const path = FieldPath.of('spec', 'trustBundle');
  if (Buffer.byteLength(text) > MAX_BUNDLE_BYTES) return [tooLong(path, MAX_BUNDLE_BYTES)];
  const refuse = (why: string) => invalid(path, '<value omitted>', why);
  const places = new Map<string, number[]>();
  const errors: FieldErrors = [];
  for (const [position, { type, hasHeaders, bytes }] of decodePem(text).entries()) {
    const why =
      type !== 'CERTIFICATE'
        ? `has bad block type: ${type}`
        : hasHeaders
          ? 'has PEM block headers'
          : certificateProblem(bytes);
    if (why !== undefined) {
      errors.push(refuse(`entry ${position} ${why}`));
      continue;
    }
    const key = bytes.toString('base64');
    places.set(key, [...(places.get(key) ?? []), position]);
  }
  if (errors.length > 0) return errors;
  if (places.size === 0) return [refuse('at least one trust anchor must be provided')];
  return [...places.values()]
    .filter((positions) => positions.length > 1)
    .map((positions) => refuse(`duplicate trust anchor (indices [${positions.join(' ')}])`));
}

function certificateProblem(bytes: Buffer): string | undefined {
  try {
    return parseCertificate(bytes).basicConstraints?.ca === true ? undefined : 'does not have the CA bit set';
  } catch {
    return 'does not parse as X.509';
  }
}

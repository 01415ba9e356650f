import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { validateImmutableField } from '../../machinery/validation/fields.js';
import { isConfigMapKey } from '../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { LeaseCandidate } from '../../schema/generated/coordination.v1beta1.js';
import { compareSemanticVersions, parseSemanticVersion, type SemanticVersion } from './semantic-version.js';
import { OLDEST_EMULATION_VERSION, validateStrategyName } from './strategy-name.js';

export const leaseCandidates: KindDefinition<LeaseCandidate> = {
  group: 'coordination.k8s.io',
  kind: 'LeaseCandidate',
  plural: 'leasecandidates',
  singular: 'leasecandidate',
  namespaced: true,
  versions: [
    { version: 'v1beta1', enabledByDefault: false },
    { version: 'v1alpha2', enabledByDefault: false },
  ],
  storageVersion: 'v1beta1',
  strategy: {
    metadataRules: { validateName: (name) => isConfigMapKey(name), anyFinalizer: true },
    allowCreateOnUpdate: true,
    allowUnconditionalUpdate: false,
    validate: validateCandidate,
    validateUpdate: (object, old) => [
      ...validateCandidate(object),
      ...validateImmutableField(object.spec.leaseName, old.spec.leaseName, FieldPath.of('spec', 'leaseName')),
    ],
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('LeaseName', 'The lease it stands for.'),
      column('BinaryVersion', 'The version of its program.'),
      column('EmulationVersion', 'The version its program behaves as.'),
      AGE_COLUMN,
    ],
    row: ({ spec, ...object }, now) => [
      object.metadata.name ?? '',
      spec.leaseName,
      spec.binaryVersion,
      spec.emulationVersion ?? '',
      ageCell(object, now),
    ],
  },
};

const NO_VERSION: SemanticVersion = { numbers: [0n, 0n, 0n], prerelease: [] };

function validateCandidate({ spec }: Readonly<LeaseCandidate>): FieldErrors {
  const path = FieldPath.of('spec');
  const { leaseName, binaryVersion, emulationVersion = '', strategy = '' } = spec;
  const errors: FieldErrors = [];
  const parsed = (member: string, text: string): SemanticVersion => {
    if (text === '') return NO_VERSION;
    const version = parseSemanticVersion(text);
    if (version === undefined) errors.push(invalid(path.child(member), text, 'must be a valid semantic version'));
    return version ?? NO_VERSION;
  };
  if (leaseName === '') errors.push(required(path.child('leaseName')));
  const emulation = parsed('emulationVersion', emulationVersion);
  if (binaryVersion === '') errors.push(required(path.child('binaryVersion')));
  const binary = parsed('binaryVersion', binaryVersion);
  if (binaryVersion !== '' && emulationVersion !== '' && compareSemanticVersions(binary, emulation) < 0) {
    const why = 'must be greater than or equal to `emulationVersion`';
    errors.push(invalid(path.child('binaryVersion'), binaryVersion, why));
  }
  if (strategy === '') return [...errors, required(path.child('strategy'))];
  if (strategy === OLDEST_EMULATION_VERSION && compareSemanticVersions(emulation, NO_VERSION) === 0) {
    const why = "must be specified when `strategy` is 'OldestEmulationVersion'";
    errors.push(required(path.child('emulationVersion'), why));
  }
  return [...errors, ...validateStrategyName(strategy, path.child('strategy'))];
}

import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, forbidden, invalid, required, tooLong } from '../../machinery/field-error.js';
import { IMMUTABLE, invalidEach } from '../../machinery/validation/fields.js';
import { isDns1123Subdomain, rangeMessage } from '../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition, MetadataErrors } from '../../registry/kind.js';
import type {
  VolumeAttachment,
  VolumeAttachmentSource,
  VolumeAttachmentStatus,
  VolumeError,
} from '../../schema/generated/storage.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateVolumeSpec } from '../core/persistentvolume/validation.js';
import { validateCsiDriverName } from '../core/pod/validation/volume-sources.js';
import { keepMetaForStatus } from '../status-metadata.js';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');
const ONE_SOURCE = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
const MAX_METADATA_BYTES = 256 * 1024;
const MAX_MESSAGE_BYTES = 1024;
const MAX_INT32 = 2 ** 31 - 1;

export const volumeAttachments: KindDefinition<VolumeAttachment> = {
  group: 'storage.k8s.io',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  singular: 'volumeattachment',
  namespaced: false,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasStatus: true,
    hasGeneration: false,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => {
      object.status = { attached: false };
    },
    validate: (object) => [...validateAttachment(object), ...validateNewAttachment(object)],
    validateUpdate: (object, old, _context, metadata) => validateAttachmentUpdate(object, old, metadata),
    status: {
      metadataRules: { placedOnUpdate: true },
      prepareForUpdate: ({ metadata, status }, old, { features }) => {
        keepMetaForStatus(metadata, old.metadata);
        dropErrorCodes(status, old.status, features);
      },
      validateUpdate: (object, old, _context, metadata) => validateAttachmentUpdate(object, old, metadata),
    },
    delete: { returnsObject: true },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  },
  subresources: { status: { kind: 'VolumeAttachment', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      { ...column('Attacher', 'The driver that attaches the volume.'), format: 'name' },
      column('PV', 'The volume.'),
      column('Node', 'The node it is attached to.'),
      { name: 'Attached', type: 'boolean', description: 'Whether the volume is attached.' },
      AGE_COLUMN,
    ],
    row: ({ metadata, spec, status }, now) => [
      metadata.name ?? '',
      spec.attacher,
      spec.source.persistentVolumeName ?? '',
      spec.nodeName,
      status.attached,
      ageCell({ metadata }, now),
    ],
  },
};

function validateAttachment({ spec, status }: Readonly<VolumeAttachment>): FieldErrors {
  const metadata = Object.entries(status.attachmentMetadata ?? {});
  const bytes = metadata.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return [
    ...(spec.attacher === '' ? [required(SPEC.child('attacher'))] : []),
    ...validateSource(spec.source, SPEC.child('source')),
    ...invalidEach(SPEC.child('nodeName'), spec.nodeName, isDns1123Subdomain(spec.nodeName)),
    ...(bytes > MAX_METADATA_BYTES ? [tooLong(STATUS.child('attachmentMetadata'), MAX_METADATA_BYTES)] : []),
    ...validateVolumeError(status.attachError, STATUS.child('attachError')),
    ...validateVolumeError(status.detachError, STATUS.child('detachError')),
  ];
}

function validateSource(source: Readonly<VolumeAttachmentSource>, path: FieldPath): FieldErrors {
  const { persistentVolumeName: name, inlineVolumeSpec: inline } = source;
  if (inline !== undefined) {
    if (name !== undefined) return [forbidden(path, ONE_SOURCE)];
    return validateVolumeSpec(inline, '', path.child('inlineVolumeSpec'), {
      inline: true,
      volumeAttributesClass: false,
    });
  }
  if (name === undefined) return [required(path, ONE_SOURCE)];
  if (name !== '') return [];
  return [required(path.child('persistentVolumeName'), 'must specify non empty persistentVolumeName')];
}

function validateVolumeError(error: Readonly<VolumeError> | undefined, path: FieldPath): FieldErrors {
  if (error === undefined) return [];
  const { message = '', errorCode } = error;
  const errors: FieldErrors = [];
  // The error names the limit of the metadata, as kube-apiserver does.
  if (Buffer.byteLength(message) > MAX_MESSAGE_BYTES) errors.push(tooLong(path.child('message'), MAX_METADATA_BYTES));
  if (errorCode !== undefined && errorCode < 0) {
    errors.push(invalid(path.child('errorCode'), errorCode, rangeMessage(0, MAX_INT32)));
  }
  return errors;
}

/** Rules that came with v1 and bind only what is made since. */
function validateNewAttachment({ spec }: Readonly<VolumeAttachment>): FieldErrors {
  const { persistentVolumeName: name } = spec.source;
  return [
    ...validateCsiDriverName(spec.attacher, SPEC.child('attacher')),
    ...(name === undefined
      ? []
      : invalidEach(SPEC.child('source', 'persistentVolumeName'), name, isDns1123Subdomain(name))),
  ];
}

function validateAttachmentUpdate(
  object: Readonly<VolumeAttachment>,
  old: Readonly<VolumeAttachment>,
  { whole }: MetadataErrors,
): FieldErrors {
  const own = validateAttachment(object);
  const errors = [...whole, ...own, ...whole, ...own];
  if (!deepEqual(object.spec, old.spec)) {
    errors.push(invalid(SPEC, internalValue('VolumeAttachmentSpec', object.spec), IMMUTABLE));
  }
  return errors;
}

function dropErrorCodes(
  status: VolumeAttachmentStatus,
  old: Readonly<VolumeAttachmentStatus>,
  features: FeatureGates,
): void {
  if (features.enabled('MutableCSINodeAllocatableCount')) return;
  if (old.attachError?.errorCode === undefined) delete status.attachError?.errorCode;
  if (old.detachError?.errorCode === undefined) delete status.detachError?.errorCode;
}

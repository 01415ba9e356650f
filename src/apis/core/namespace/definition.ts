import type { KindDefinition } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { Namespace } from '../../../schema/generated/core.v1.js';
import { nameIsDnsLabel } from '../../../machinery/validation/names.js';
import { validateFinalize, validateNamespace, validateNamespaceStatus } from './validation.js';

const NAME_LABEL = 'kubernetes.io/metadata.name';
const KUBERNETES = 'kubernetes';

export const namespaces: KindDefinition<Namespace> = {
  group: '',
  kind: 'Namespace',
  plural: 'namespaces',
  singular: 'namespace',
  shortNames: ['ns'],
  namespaced: false,
  // Deleting all namespaces at once is not served.
  verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true, validateName: nameIsDnsLabel },
    hasStatus: true,
    hasGeneration: false,
    prepareForCreate,
    prepareForUpdate: (object, old) => {
      object.spec = { ...object.spec, finalizers: [...(old.spec.finalizers ?? [])] };
      if (object.spec.finalizers?.length === 0) delete object.spec.finalizers;
    },
    validate: validateNamespace,
    validateUpdate: (object, _old, _context, { whole, change }) => [...whole, ...validateNamespace(object), ...change],
    canonicalize: labelWithName,
    status: { validateUpdate: validateNamespaceStatus },
    delete: { returnsObject: true, terminate, staysAfterUpdate: (object) => hasFinalizers(object) },
    resetFields: { '': [['status']], status: [['spec']], finalize: [['status']] },
  },
  subresources: {
    status: { kind: 'Namespace', verbs: ['get', 'patch', 'update'] },
    finalize: {
      kind: 'Namespace',
      verbs: ['update'],
      update: {
        tables: false,
        prepareForUpdate: (object, old) => {
          object.status = old.status;
        },
        validateUpdate: validateFinalize,
      },
    },
  },
  table: {
    columns: [NAME_COLUMN, column('Status', 'Whether the namespace is active or terminating.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', object.status.phase ?? '', ageCell(object, now)],
  },
  selection: { fields: (object) => ({ 'status.phase': object.status.phase ?? '', name: object.metadata.name ?? '' }) },
};

function setDefaults(object: Namespace): void {
  if (object.metadata.name) labelWithName(object);
  object.status.phase ||= 'Active';
}

/** A namespace carries its own name as a label, so that selectors can name it. */
function labelWithName({ metadata }: Namespace): void {
  metadata.labels = { ...metadata.labels, [NAME_LABEL]: metadata.name ?? '' };
}

function prepareForCreate(object: Namespace): void {
  object.status = { phase: 'Active' };
  const finalizers = object.spec.finalizers ?? [];
  if (!finalizers.includes(KUBERNETES)) object.spec = { ...object.spec, finalizers: [...finalizers, KUBERNETES] };
}

/** The first delete starts the end; the object goes once its contents are gone and spec.finalizers is empty. */
function terminate(object: Namespace): 'keep' | 'remove' {
  if (object.metadata.deletionTimestamp === undefined) {
    object.status = { ...object.status, phase: 'Terminating' };
    return 'keep';
  }
  return hasFinalizers(object) ? 'keep' : 'remove';
}

const hasFinalizers = ({ spec }: Readonly<Namespace>): boolean => (spec.finalizers ?? []).length > 0;

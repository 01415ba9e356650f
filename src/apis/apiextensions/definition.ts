import { type ExpressionChecker, EXPRESSIONS_WEIGHT } from '../../cel/expression-check.js';
import { goQuote } from '../../lib/go/quote.js';
import { NAME_COLUMN } from '../../registry/columns.js';
import { dropGatedFields, gated, type GatedField } from '../../registry/gated-fields.js';
import type { KindDefinition } from '../../registry/kind.js';
import { timestamp } from '../../registry/registry.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  ValidationRule,
} from '../../schema/generated/apiextensions.v1.js';
import { type Schema, schemaHas, schemasOf, subschemas } from './schema-walk.js';
import { fromStoredForm, toStoredForm } from './stored-form.js';
import { validateDefinition, validateDefinitionStatus, validateDefinitionUpdate } from './validation.js';
import { sortValues } from './sort-values.js';
import { isKnownFormat } from '../../machinery/validation/string-formats.js';

const GROUP = 'apiextensions.k8s.io';
const HTTPS_PORT = 443;
/** Holds a definition until its resources are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

const GATED: readonly GatedField<CustomResourceDefinition>[] = [
  {
    gates: ['CRDValidationRatcheting'],
    inUse: ({ spec }) => schemasOf(spec).some((schema) => schemaHas(schema, asksForOptionalOld)),
    drop: ({ spec }) => schemasOf(spec).forEach(dropOptionalOld),
  },
  gated('CustomResourceFieldSelectors', 'spec.versions[].selectableFields'),
];

const rulesIn = (schema: Schema): readonly ValidationRule[] => schema['x-kubernetes-validations'] ?? [];

const asksForOptionalOld = (schema: Schema): boolean =>
  rulesIn(schema).some(({ optionalOldSelf }) => optionalOldSelf !== undefined);

function dropOptionalOld(schema: Schema): void {
  for (const rule of rulesIn(schema)) delete rule.optionalOldSelf;
  subschemas(schema).forEach(dropOptionalOld);
}

export const customResourceDefinition = (
  checker: ExpressionChecker | undefined,
): KindDefinition<CustomResourceDefinition> => ({
  group: GROUP,
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  singular: 'customresourcedefinition',
  shortNames: ['crd', 'crds'],
  categories: ['api-extensions'],
  namespaced: false,
  storage: {
    keyPrefix: `${GROUP}/customresourcedefinitions`,
    shownVersion: 'v1beta1',
    shape: { to: toStoredForm, from: fromStoredForm },
  },
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: {
      // The name follows from the spec, so it is checked with it.
      validateName: () => [],
      anyFinalizer: true,
    },
    hasStatus: true,
    cost: { rulesWeight: EXPRESSIONS_WEIGHT },
    allowUnconditionalUpdate: false,
    prepareForCreate: (object, { features }) => {
      dropGatedFields(GATED, object, undefined, features);
      const acceptedNames = { plural: '', kind: '' };
      object.status = { conditions: null, acceptedNames, storedVersions: null };
      noteStorageVersion(object);
    },
    prepareForUpdate: (object, old, { features }) => {
      dropGatedFields(GATED, object, old, features);
      noteStorageVersion(object);
    },
    validate: (object) => validateDefinition(object, checker),
    validateUpdate: (object, old) => validateDefinitionUpdate(object, old, checker),
    warningsOnCreate: (object) => unknownFormats(object).map(formatWarning),
    warningsOnUpdate: (object, old) => {
      const before = new Set(unknownFormats(old));
      return unknownFormats(object)
        .filter((format) => !before.has(format))
        .map(formatWarning);
    },
    status: { tables: false, validateUpdate: validateDefinitionStatus },
    delete: { returnsObject: true, terminate, dependentsStay: true },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  },
  subresources: { status: { kind: 'CustomResourceDefinition', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [NAME_COLUMN, { name: 'Created At', type: 'date', description: 'When the definition was created.' }],
    row: ({ metadata }) => [metadata.name ?? '', metadata.creationTimestamp ?? null],
  },
});

function setDefaults({ spec, status }: CustomResourceDefinition): void {
  sortValues(spec);
  const { names } = spec;
  if (!names.singular && names.kind !== '') names.singular = names.kind.toLowerCase();
  if (!names.listKind && names.kind !== '') names.listKind = `${names.kind}List`;
  spec.conversion ??= { strategy: 'None' };
  const service = spec.conversion.webhook?.clientConfig?.service;
  if (service !== undefined) service.port ??= HTTPS_PORT;
  if ((status.storedVersions ?? []).length > 0) return;
  const stored = spec.versions?.find(({ storage }) => storage);
  if (stored !== undefined) status.storedVersions = [stored.name];
}

/** Every version that ever was the one to store may still have objects. */
function noteStorageVersion(object: CustomResourceDefinition): void {
  const { spec, status } = object;
  const name = spec.versions?.find(({ storage }) => storage)?.name;
  if (name === undefined || status.storedVersions?.includes(name)) return;
  // The status of an update is the old object's own, which is shared.
  object.status = { ...status, storedVersions: [...(status.storedVersions ?? []), name] };
}

/** A deleted definition stays until the objects of its resource are gone. */
function terminate(object: CustomResourceDefinition, now: Date): 'keep' | 'remove' {
  if (object.metadata.deletionTimestamp !== undefined) return 'remove';
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(CLEANUP_FINALIZER)) object.metadata.finalizers = [...finalizers, CLEANUP_FINALIZER];
  setCondition(
    object,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
  return 'keep';
}

/** Sets a condition; its time changes only when its status does. */
export function setCondition(
  { status }: CustomResourceDefinition,
  condition: Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>,
  now: Date,
): void {
  const conditions = status.conditions ?? [];
  const old = conditions.find(({ type }) => type === condition.type);
  const sameStatus = old?.status === condition.status && old.lastTransitionTime;
  const set = { ...condition, lastTransitionTime: sameStatus ? old.lastTransitionTime : timestamp(now) };
  status.conditions = old === undefined ? [...conditions, set] : conditions.map((one) => (one === old ? set : one));
}

function unknownFormats({ spec }: Readonly<CustomResourceDefinition>): string[] {
  const formats: string[] = [];
  for (const schema of new Set(schemasOf(spec))) {
    schemaHas(schema, ({ type, format }) => {
      if (type === 'string' && format && !isKnownFormat(format)) formats.push(format);
      return false;
    });
  }
  return formats;
}

const formatWarning = (format: string): string => `unrecognized format ${goQuote(format)}`;

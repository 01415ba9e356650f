// The rules of metadata, the same for every kind.
import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import {
  type FieldError,
  type FieldErrors,
  FieldPath,
  forbidden,
  invalid,
  required,
  tooLong,
  named,
} from '../field-error.js';
import { wasExplicitEmpty } from '../explicit-empty.js';
import {
  apiVersionFault,
  type ManagedFieldsEntry,
  type ObjectMeta,
  type OwnerReference,
  parseApiVersion,
} from '../object.js';
import { IMMUTABLE, invalidEach, NOT_NEGATIVE } from './fields.js';
import { validateLabels } from './label-selector.js';
import { isDns1123Label, isQualifiedName, type NameRule } from './names.js';

const ANNOTATIONS_MAX_BYTES = 256 * 1024;
const FIELD_MANAGER_MAX_BYTES = 128;
const SUBRESOURCE_MAX_BYTES = 256;
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

export interface ObjectMetaRules {
  readonly namespaced: boolean;
  readonly validateName: NameRule | ((name: string, prefix: boolean) => readonly string[]);
  /** Default: `metadata`. */
  readonly path?: FieldPath;
}

export function validateObjectMeta(meta: Readonly<ObjectMeta>, rules: ObjectMetaRules): FieldErrors {
  const path = rules.path ?? FieldPath.of('metadata');
  const errors = validateObjectName(meta, rules.validateName, path);
  append(errors, validateBesideName(meta, rules.namespaced, path));
  return errors;
}

/** What comes after the name, and is the same whatever a kind's objects may be called. */
export function validateBesideName(meta: Readonly<ObjectMeta>, namespaced: boolean, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  if (namespaced) {
    if (!meta.namespace) errors.push(required(path.child('namespace')));
    else pushEach(errors, { path, name: 'namespace', value: meta.namespace, messages: isDns1123Label(meta.namespace) });
  } else if (meta.namespace) {
    errors.push(forbidden(path.child('namespace'), 'not allowed on this type'));
  }
  // hot: on every write, and most objects have few of these.
  const { generation = 0, labels, annotations, ownerReferences, finalizers, managedFields } = meta;
  if (generation < 0) errors.push(invalid(path.child('generation'), generation, NOT_NEGATIVE));
  if (labels) append(errors, validateLabels(labels, path.child('labels')));
  if (annotations) append(errors, validateAnnotations(annotations, path.child('annotations')));
  if (ownerReferences) append(errors, validateOwnerReferences(ownerReferences, path.child('ownerReferences')));
  if (finalizers) append(errors, validateFinalizers(finalizers, path.child('finalizers')));
  if (managedFields) append(errors, validateManagedFields(managedFields, path.child('managedFields')));
  return errors;
}

/** The part of the rules that depends on how a kind's objects may be named. */
export function validateObjectName(
  meta: Readonly<ObjectMeta>,
  validateName: ObjectMetaRules['validateName'],
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (meta.generateName) {
    pushEach(errors, {
      path,
      name: 'generateName',
      value: meta.generateName,
      messages: validateName(meta.generateName, true),
    });
  }
  if (!meta.name) errors.push(required(path.child('name'), 'name or generateName is required'));
  else pushEach(errors, { path, name: 'name', value: meta.name, messages: validateName(meta.name, false) });
  return errors;
}

interface NamedValue {
  readonly path: FieldPath;
  readonly name: string;
  readonly value: string;
  readonly messages: readonly string[];
}

// hot: on every write, and names are nearly always right.
function pushEach(errors: FieldErrors, { path, name, value, messages }: NamedValue): void {
  if (messages.length > 0) append(errors, invalidEach(path.child(name), value, messages));
}

export function validateObjectMetaUpdate(
  meta: Readonly<ObjectMeta>,
  old: Readonly<ObjectMeta>,
  path: FieldPath = FieldPath.of('metadata'),
): FieldErrors {
  const errors = validateMetaChange(meta, old, path);
  append(
    errors,
    validateLabels(meta.labels, path.child('labels')),
    validateAnnotations(meta.annotations, path.child('annotations')),
    validateOwnerReferences(meta.ownerReferences, path.child('ownerReferences')),
    validateManagedFields(meta.managedFields, path.child('managedFields')),
  );
  return errors;
}

// hot: on every update.
/** As validateObjectMetaUpdate(), of metadata that validateBesideName() has found right. */
export function validateMetaChange(
  meta: Readonly<ObjectMeta>,
  old: Readonly<ObjectMeta>,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (old.deletionTimestamp) {
    append(errors, validateNoNewFinalizers(meta.finalizers, old.finalizers, path.child('finalizers')));
  }
  if (!meta.resourceVersion) {
    errors.push(invalid(path.child('resourceVersion'), '', 'must be specified for an update'));
  }
  if ((meta.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(path.child('generation'), meta.generation ?? 0, 'must not be decremented'));
  }
  const {
    name = '',
    namespace = '',
    uid = '',
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
  } = meta;
  if (name !== (old.name ?? '')) errors.push(immutable(path, 'name', name));
  if (namespace !== (old.namespace ?? '')) errors.push(immutable(path, 'namespace', namespace));
  if (uid !== (old.uid ?? '')) errors.push(immutable(path, 'uid', uid));
  if (creationTimestamp !== old.creationTimestamp) errors.push(immutable(path, 'creationTimestamp', creationTimestamp));
  // One that is no time is not the same as none.
  const isNoTime = deletionTimestamp === undefined && wasExplicitEmpty(meta, 'deletionTimestamp');
  if (isNoTime || deletionTimestamp !== old.deletionTimestamp) {
    errors.push(immutable(path, 'deletionTimestamp', deletionTimestamp));
  }
  if (deletionGracePeriodSeconds !== old.deletionGracePeriodSeconds) {
    errors.push(immutable(path, 'deletionGracePeriodSeconds', deletionGracePeriodSeconds));
  }
  return errors;
}

const immutable = (path: FieldPath, name: keyof ObjectMeta, value: unknown): FieldError =>
  invalid(path.child(name), value, IMMUTABLE);

export function validateAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  path: FieldPath,
): FieldErrors {
  if (!annotations) return [];
  const keys = Object.keys(annotations);
  let errors = annotationKeyErrors(keys, path);
  // hot: annotations are nearly always right, and only errors have an order.
  if (errors.length > 1) errors = annotationKeyErrors(keys.sort(), path);
  if (isLongerThan(ANNOTATIONS_MAX_BYTES, annotations, keys)) errors.push(tooLong(path, ANNOTATIONS_MAX_BYTES));
  return errors;
}

/** They follow the rule of label keys, but for case. */
function annotationKeyErrors(keys: readonly string[], path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const key of keys) {
    if (isQualifiedName(key).length === 0) continue;
    for (const message of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, message));
  }
  return errors;
}

function isLongerThan(maxBytes: number, texts: Readonly<Record<string, string>>, keys: readonly string[]): boolean {
  let length = 0;
  for (const key of keys) length += key.length + (texts[key] ?? '').length;
  if (length * MAX_BYTES_OF_CHARACTER <= maxBytes) return false;
  let bytes = 0;
  for (const key of keys) bytes += Buffer.byteLength(key) + Buffer.byteLength(texts[key] ?? '');
  return bytes > maxBytes;
}

/** In UTF-8, of one that `length` counts. */
const MAX_BYTES_OF_CHARACTER = 3;

function validateOwnerReferences(references: readonly OwnerReference[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  let controller: string | undefined;
  for (const reference of references ?? []) {
    append(errors, validateOwnerReference(reference, path));
    if (reference.controller !== true) continue;
    const owner = `${reference.kind}/${reference.name}`;
    if (controller === undefined) controller = owner;
    else {
      const found = `Found "true" in references for ${controller} and ${owner}`;
      errors.push(invalid(path, references, `Only one reference can have Controller set to true. ${found}`));
    }
  }
  return errors;
}

export const validateFinalizerName = (finalizer: string, path: FieldPath): FieldErrors =>
  invalidEach(path, finalizer, isQualifiedName(finalizer));

function validateFinalizers(finalizers: readonly string[] | undefined, path: FieldPath): FieldErrors {
  if (!finalizers) return [];
  const errors = finalizers.flatMap((finalizer) => validateFinalizerName(finalizer, path));
  if (finalizers.includes(ORPHAN) && finalizers.includes(FOREGROUND)) {
    errors.push(invalid(path, finalizers, `finalizer ${ORPHAN} and ${FOREGROUND} cannot be both set`));
  }
  return errors;
}

const STANDARD_FINALIZERS = ['kubernetes', ORPHAN, FOREGROUND];

/** Built-in kinds accept finalizers of the system's own and such that name a domain. */
export function validateKubeFinalizers(finalizers: readonly string[] | undefined, path: FieldPath): FieldErrors {
  return (finalizers ?? []).flatMap((finalizer, i) =>
    finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)
      ? []
      : [invalid(path.index(i), finalizer, 'name is neither a standard finalizer name nor is it fully qualified')],
  );
}

function validateNoNewFinalizers(
  finalizers: readonly string[] | undefined,
  old: readonly string[] | undefined,
  path: FieldPath,
): FieldErrors {
  const before = new Set(old);
  const added = [...new Set(finalizers ?? [])].filter((finalizer) => !before.has(finalizer)).sort();
  if (added.length === 0) return [];
  const found = `[]string{${added.map(goQuote).join(', ')}}`;
  return [
    forbidden(path, `no new finalizers can be added if the object is being deleted, found new finalizers ${found}`),
  ];
}

function validateManagedFields(entries: readonly ManagedFieldsEntry[] | undefined, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { operation, fieldsType, manager, subresource }] of (entries ?? []).entries()) {
    const at = path.index(position);
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), named(operation ?? ''), 'must be `Apply` or `Update`'));
    }
    if (fieldsType && fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'));
    }
    if (manager !== undefined && !isPlainManager(manager)) append(errors, validateFieldManager(manager, at));
    if (subresource !== undefined && Buffer.byteLength(subresource) > SUBRESOURCE_MAX_BYTES) {
      errors.push(tooLong(at.child('subresource'), SUBRESOURCE_MAX_BYTES));
    }
  }
  return errors;
}

// hot: on every write, and nearly every name is plain.
const isPlainManager = (manager: string): boolean =>
  manager.length <= FIELD_MANAGER_MAX_BYTES && /^[\x20-\x7e]*$/.test(manager);

function validateFieldManager(manager: string, entry: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const path = entry.child('manager');
  if (Buffer.byteLength(manager) > FIELD_MANAGER_MAX_BYTES) errors.push(tooLong(path, FIELD_MANAGER_MAX_BYTES));
  let position = 0;
  for (const character of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(character)) {
      const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      errors.push(invalid(path, manager, `invalid character U+${code} (at position ${position})`));
    }
    position += Buffer.byteLength(character);
  }
  return errors;
}

function validateOwnerReference(reference: OwnerReference, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const { group, version } = parseApiVersion(reference.apiVersion);
  if (version === '' || apiVersionFault(reference.apiVersion) !== undefined) {
    errors.push(invalid(path.child('apiVersion'), reference.apiVersion, 'version must not be empty'));
  }
  for (const member of ['kind', 'name', 'uid'] as const) {
    if (reference[member] === '') errors.push(invalid(path.child(member), '', 'must not be empty'));
  }
  if (group === '' && version === 'v1' && reference.kind === 'Event') {
    errors.push(invalid(path, reference, '/v1, Kind=Event is disallowed from being an owner'));
  }
  return errors;
}

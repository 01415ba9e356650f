// Resources within resources have kind, version and metadata like any: these are their rules.
import { append } from '../../../lib/values/append.js';
import { cannotUnmarshal } from '../../../lib/go/json-kind.js';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import { type FieldError, type FieldErrors, FieldPath, invalid, required } from '../../../machinery/field-error.js';
import { apiVersionFault, type ObjectMeta } from '../../../machinery/object.js';
import { isDns1035Label, pathSegmentName } from '../../../machinery/validation/names.js';
import { validateObjectMeta } from '../../../machinery/validation/object-meta.js';
import type { JSONSchemaProps } from '../../../schema/generated/apiextensions.v1.js';
import { shownJson } from './shown-json.js';

/** Checks the metadata of the value, where it is a resource (`isResource`), and of those embedded in it. */
export function validateResourceMeta(
  value: unknown,
  schema: Readonly<JSONSchemaProps> | undefined,
  isResource: boolean,
  path: FieldPath | undefined,
): FieldErrors {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = isPlainObject(schema.items) ? schema.items : undefined;
    return value.flatMap((item, i) => validateResourceMeta(item, items, false, indexed(path, i)));
  }
  if (!isPlainObject(value)) return [];
  const embedded = isResource || schema['x-kubernetes-embedded-resource'] === true;
  const errors = embedded ? validateEmbedded(value, path) : [];
  const { properties = {}, additionalProperties } = schema;
  const additional = isPlainObject(additionalProperties) ? additionalProperties : undefined;
  for (const key of Object.keys(value).sort()) {
    const known = Object.hasOwn(properties, key);
    const at = known ? childOf(path, key) : path?.key(key);
    append(errors, validateResourceMeta(value[key], known ? properties[key] : additional, false, at));
  }
  return errors;
}

/** The first member of a resource's metadata, in the value or embedded in it, that has not even the right type. */
export function metadataTypeError(
  value: unknown,
  schema: Readonly<JSONSchemaProps> | undefined,
  isResource: boolean,
  path: FieldPath | undefined,
): FieldError | undefined {
  if (schema === undefined) return undefined;
  if (Array.isArray(value)) {
    const items = isPlainObject(schema.items) ? schema.items : undefined;
    return firstOf(value.keys(), (i) => metadataTypeError(value[i], items, false, path?.index(i)));
  }
  if (!isPlainObject(value)) return undefined;
  const embedded = isResource || schema['x-kubernetes-embedded-resource'] === true;
  const { properties = {}, additionalProperties } = schema;
  const additional = isPlainObject(additionalProperties) ? additionalProperties : undefined;
  return firstOf(Object.keys(value).sort(), (key) => {
    const member = value[key];
    if (embedded && (key === 'apiVersion' || key === 'kind') && typeof member !== 'string') {
      return invalid(childOf(path, key), shownJson(member), 'must be a string');
    }
    const why = embedded && key === 'metadata' ? decodeMistake(member) : undefined;
    if (why !== undefined) return invalid(childOf(path, key), shownJson(member), why);
    const known = Object.hasOwn(properties, key);
    const at = known ? childOf(path, key) : path?.key(key);
    return metadataTypeError(member, known ? properties[key] : additional, false, at);
  });
}

function firstOf<T>(items: Iterable<T>, find: (item: T) => FieldError | undefined): FieldError | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function validateEmbedded(resource: Readonly<Record<string, unknown>>, path: FieldPath | undefined): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of ['apiVersion', 'kind']) {
    if (resource[member] === undefined) errors.push(required(childOf(path, member)));
  }
  const { apiVersion, kind, metadata } = resource;
  if (apiVersion !== undefined) append(errors, validateText(apiVersion, childOf(path, 'apiVersion'), apiVersionFault));
  if (kind !== undefined) append(errors, validateText(kind, childOf(path, 'kind'), kindMistake));
  if (metadata !== undefined) {
    const at = childOf(path, 'metadata');
    const why = decodeMistake(metadata);
    if (why !== undefined) errors.push(invalid(at, shownJson(metadata), why));
    else append(errors, validateMetadata(metadata ?? {}, at));
  }
  return errors;
}

function validateText(value: unknown, path: FieldPath, mistake: (text: string) => string | undefined): FieldErrors {
  if (typeof value !== 'string') return [invalid(path, shownJson(value), 'must be a string')];
  const why = value === '' ? 'must not be empty' : mistake(value);
  return why === undefined ? [] : [invalid(path, value, why)];
}

function kindMistake(text: string): string | undefined {
  const wrong = isDns1035Label(text.toLowerCase());
  return wrong.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${wrong.join(',')}`;
}

/** A resource within another need not have a name. */
const validateMetadata = (metadata: ObjectMeta, path: FieldPath): FieldErrors =>
  validateObjectMeta(
    { ...metadata, name: metadata.name || 'fakename' },
    { namespaced: Boolean(metadata.namespace), validateName: pathSegmentName, path },
  );

const META_TYPES: Readonly<Record<string, 'string' | 'number' | 'map' | 'list'>> = {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  selfLink: 'string',
  uid: 'string',
  resourceVersion: 'string',
  generation: 'number',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'number',
  labels: 'map',
  annotations: 'map',
  ownerReferences: 'list',
  finalizers: 'list',
  managedFields: 'list',
};

/** Go's words for metadata of wrong types. */
function decodeMistake(metadata: unknown): string | undefined {
  const refuse = (found: unknown, member: string, wanted: string): string => {
    const what = member === '' ? 'Go value' : `Go struct field ObjectMeta.${member}`;
    return cannotUnmarshal(found, `${what} of type ${wanted}`);
  };
  if (!isPlainObject(metadata)) return metadata === null ? undefined : refuse(metadata, '', 'v1.ObjectMeta');
  for (const [member, value] of Object.entries(metadata)) {
    if (value === null) continue;
    switch (META_TYPES[member]) {
      case 'string':
        if (typeof value !== 'string') return refuse(value, member, 'string');
        break;
      case 'number':
        if (typeof value !== 'number') return refuse(value, member, 'int64');
        break;
      case 'map': {
        if (!isPlainObject(value)) return refuse(value, member, 'map[string]string');
        const odd = Object.values(value).find((text) => typeof text !== 'string');
        if (odd !== undefined) return refuse(odd, member, 'string');
        break;
      }
      case 'list':
        if (!Array.isArray(value))
          return refuse(value, member, member === 'finalizers' ? '[]string' : `[]v1.${member}`);
        break;
      default:
    }
  }
  return undefined;
}

const childOf = (path: FieldPath | undefined, name: string): FieldPath => path?.child(name) ?? FieldPath.of(name);
const indexed = (path: FieldPath | undefined, i: number): FieldPath | undefined => path?.index(i);

// What stands beside the schema of a version: subresources, columns, selectable fields, its deprecation.
import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  duplicate,
  invalid,
  required,
  tooMany,
  named,
} from '../../machinery/field-error.js';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '../../schema/generated/apiextensions.v1.js';
import { findField } from './field-path-in-schema.js';
import type { Schema } from './schema-walk.js';
import { structuralMistake } from './structural-schema.js';

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string'];
const COLUMN_FORMATS = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const MAX_SELECTABLE_FIELDS = 8;
const MAX_WARNING_BYTES = 256;
const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

export function validateDeprecation(version: Readonly<CustomResourceDefinitionVersion>, path: FieldPath): FieldErrors {
  const { deprecated = false, deprecationWarning: warning } = version;
  if (warning === undefined) return [];
  const refuse = (why: string) => invalid(path.child('deprecationWarning'), named(warning), why);
  if (!deprecated) return [refuse('can only be set for deprecated versions')];
  const errors: FieldErrors = [];
  if (Buffer.byteLength(warning) > MAX_WARNING_BYTES) errors.push(refuse('must be <= 256 characters long'));
  if (warning === '') errors.push(refuse('must not be an empty string'));
  const odd = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (odd !== null) {
    const at = Buffer.byteLength(warning.slice(0, odd.index));
    errors.push(refuse(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`));
  }
  return errors;
}

export function validateColumns(
  columns: readonly CustomResourceColumnDefinition[] | undefined,
  path: FieldPath,
): FieldErrors {
  return (columns ?? []).flatMap((column, i) => validateColumn(column, path.index(i)));
}

function validateColumn(column: Readonly<CustomResourceColumnDefinition>, path: FieldPath): FieldErrors {
  const { name, type, format = '', jsonPath } = column;
  const errors: FieldErrors = [];
  if (name === '') errors.push(required(path.child('name')));
  const types = `must be one of ${COLUMN_TYPES.join(',')}`;
  if (type === '') errors.push(required(path.child('type'), types));
  else if (!COLUMN_TYPES.includes(type)) errors.push(invalid(path.child('type'), type, types));
  if (format !== '' && !COLUMN_FORMATS.includes(format)) {
    errors.push(invalid(path.child('format'), format, `must be one of ${COLUMN_FORMATS.join(',')}`));
  }
  if (jsonPath === '') errors.push(required(path.child('JSONPath')));
  else append(errors, validateSimplePath(jsonPath, path.child('JSONPath')));
  return errors;
}

export function validateSubresources(
  subresources: Readonly<CustomResourceSubresources> | undefined,
  path: FieldPath,
): FieldErrors {
  const scale = subresources?.scale;
  if (scale === undefined) return [];
  const errors: FieldErrors = [];
  for (const [member, root] of [
    ['specReplicasPath', '.spec'],
    ['statusReplicasPath', '.status'],
  ] as const) {
    const at = path.child(`scale.${member}`);
    const text = scale[member];
    if (text === '') errors.push(required(at));
    else append(errors, validatePathUnder(text, [root], `should be a json path under ${root}`, at));
  }
  const { labelSelectorPath = '' } = scale;
  if (labelSelectorPath !== '') {
    const why = 'should be a json path under either .spec or .status';
    append(
      errors,
      validatePathUnder(labelSelectorPath, ['.spec', '.status'], why, path.child('scale.labelSelectorPath')),
    );
  }
  return errors;
}

function validatePathUnder(text: string, roots: readonly string[], why: string, path: FieldPath): FieldErrors {
  const errors = validateSimplePath(text, path);
  if (errors.length > 0 || roots.some((root) => text.startsWith(`${root}.`))) return errors;
  return [invalid(path, text, why)];
}

const validateSimplePath = (text: string, path: FieldPath): FieldErrors =>
  text.startsWith('.') ? [] : [invalid(path, text, 'must be a simple json path starting with .')];

/** `unknown` is the error when there is no schema to find the fields in. */
export function validateSelectableFields(
  fields: readonly SelectableField[] | undefined,
  schema: Schema | undefined,
  unknown: string,
  path: FieldPath,
): FieldErrors {
  if (fields === undefined || fields.length === 0) return [];
  const at = path.child('selectableFields');
  if (schema === undefined) return [invalid(at, '', unknown)];
  const mistake = structuralMistake(schema);
  const errors = mistake === undefined ? [] : [invalid(path.child('schema.openAPIV3Schema'), '', mistake)];
  const seen = new Set<string>();
  for (const [i, { jsonPath }] of fields.entries()) {
    append(errors, validateSelectableField(jsonPath, mistake === undefined ? schema : {}, seen, at.index(i)));
  }
  if (seen.size > MAX_SELECTABLE_FIELDS) errors.push(tooMany(at, seen.size, MAX_SELECTABLE_FIELDS));
  return errors;
}

function validateSelectableField(jsonPath: string, schema: Schema, seen: Set<string>, path: FieldPath): FieldErrors {
  const at = path.child('jsonPath');
  if (jsonPath === '') return [required(at)];
  const found = findField(jsonPath, schema, { brackets: false });
  if ('error' in found) return [invalid(at, jsonPath, `is an invalid path: ${found.error}`)];
  const errors: FieldErrors = [];
  if (found.steps[0] === 'metadata') errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
  if (!SELECTABLE_TYPES.includes(found.schema?.type ?? '')) {
    const why =
      'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
    errors.push(invalid(at, jsonPath, why));
  }
  if (seen.has(found.path)) errors.push(duplicate(at, jsonPath));
  seen.add(found.path);
  return errors;
}

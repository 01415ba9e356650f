// Scalars from their JSON, each with its own rules.
import { base64Fault } from '../../lib/text/base64-fault.js';
import { errorText } from '../../lib/text/error-text.js';
import { FloatLiteral, isJsonObject } from '../../lib/json/float-literal.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { canonicalQuantity } from '../../machinery/quantity.js';
import { canonicalDuration, canonicalMicroTime, canonicalTime } from '../../machinery/time.js';
import { mustType } from '../catalogue.js';
import { fieldsText } from '../lazy-fields.js';
import type { ScalarName, StructType } from '../type.js';
import { sharedTree } from './shared-tree.js';
import { countKeys, DecodeError, Mismatch, type Walk } from './walk.js';

type DecodeSchema = (type: StructType, value: unknown, walk: Walk) => unknown;

export function decodeScalar(scalar: ScalarName, decodeSchema: DecodeSchema): (value: unknown, walk: Walk) => unknown {
  switch (scalar) {
    case 'string':
      return (value) => (typeof value === 'string' ? value : value === null ? '' : mismatch(value));
    case 'bool':
      return (value) => (typeof value === 'boolean' ? value : value === null ? false : mismatch(value));
    case 'int32':
      return (value) => (isInt32(value) ? value : value === null ? 0 : mismatch(value));
    case 'int64':
      return (value) => (isInt64(value) ? value : value === null ? 0 : mismatch(value));
    case 'double':
      return decodeDouble;
    case 'bytes':
      return (value) => (typeof value === 'string' ? canonicalBase64(value) : value === null ? null : byteList(value));
    case 'quantity':
      return decodeQuantity;
    case 'time':
      return (value) => (value === null ? null : parsed(canonicalTime, value));
    case 'microTime':
      return (value) => (value === null ? null : parsed(canonicalMicroTime, value));
    case 'duration':
      // To leave one out is one thing, to say that it is nothing another.
      return (value) => parsed(canonicalDuration, value ?? '');
    case 'intOrString':
      return (value) => (typeof value === 'string' || isInt32(value) ? value : value === null ? 0 : mismatch(value));
    case 'any':
    case 'rawExtension':
      return decodeOpaque;
    case 'fieldsV1':
      return decodeFields;
    case 'schemaOrArray':
      return (value, walk) => {
        if (Array.isArray(value))
          return value.length === 0 ? null : value.map((item) => decodeSchema(schemaProps(), item, walk));
        return isJsonObject(value) ? decodeSchema(schemaProps(), value, walk) : null;
      };
    case 'schemaOrBool':
      return (value, walk) => {
        if (isJsonObject(value)) return decodeSchema(schemaProps(), value, walk);
        if (typeof value === 'boolean') return value;
        throw new DecodeError('boolean or JSON schema expected');
      };
    case 'schemaOrStringArray':
      return (value, walk) => {
        if (Array.isArray(value))
          return value.length === 0 ? null : value.map((item) => (typeof item === 'string' ? item : mismatch(item)));
        return isJsonObject(value) ? decodeSchema(schemaProps(), value, walk) : null;
      };
  }
}

let knownSchema: StructType | undefined;
export const schemaProps = (): StructType =>
  (knownSchema ??= mustType('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps'));

/** Go reads bytes from a list of their numbers, too. */
function byteList(value: unknown): string {
  if (!Array.isArray(value)) return mismatch(value);
  for (const item of value as readonly unknown[]) if (!isByte(item ?? 0)) mismatch(item);
  return Buffer.from(value as number[]).toString('base64');
}

const isByte = (value: unknown): boolean => isInt32(value) && (value as number) >= 0 && (value as number) <= 255;

function mismatch(value: unknown): never {
  throw new Mismatch(value);
}

const isInt32 = (value: unknown): boolean => typeof value === 'number' && (value | 0) === value;
const isInt64 = (value: unknown): boolean =>
  typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint';
function parsed(parse: (text: string) => string | null, value: unknown): string | null {
  if (typeof value !== 'string') throw new Mismatch(value);
  try {
    return parse(value);
  } catch (error) {
    throw new DecodeError(errorText(error));
  }
}

function decodeDouble(value: unknown): unknown {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof FloatLiteral && Number.isFinite(value.value)) return value.value;
  return value === null ? 0 : mismatch(value);
}

/** A quantity may be written as a number; its text counts, not its value. */
function decodeQuantity(value: unknown): unknown {
  if (value === null) return '0';
  if (value instanceof FloatLiteral) return parsed(canonicalQuantity, value.text);
  if (typeof value === 'number' || typeof value === 'bigint') return parsed(canonicalQuantity, String(value));
  if (typeof value === 'string') return parsed(canonicalQuantity, value.trim());
  // kube-apiserver hands the raw text of objects, lists and truth values to the quantity's parser.
  return parsed(canonicalQuantity, JSON.stringify(value));
}

function decodeOpaque(value: unknown, walk: Walk): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (walk.count) walk.keys += countKeys(value);
  return plain(value);
}

/** What is shared already comes with an object that was patched. */
const decodeFields = (value: unknown, walk: Walk): unknown =>
  isPlainObject(value) && fieldsText(value) !== undefined ? value : sharedTree(decodeOpaque(value, walk));

/** Numbers that were kept with their text become numbers. Copies only what holds such a number. */
export function plain(value: unknown): unknown {
  if (value instanceof FloatLiteral) return value.value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) value[i] = plain(value[i]);
  } else if (isJsonObject(value)) {
    for (const key in value) {
      const before = value[key];
      const after = plain(before);
      if (after !== before) value[key] = after;
    }
  }
  return value;
}

/** Fails in kube-apiserver's words. */
export function canonicalBase64(text: string): string {
  const compact = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text;
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) {
    throw new DecodeError(`illegal base64 data at input byte ${base64Fault(text, { url: false, padded: true }) ?? 0}`);
  }
  return compact.endsWith('=') ? Buffer.from(compact, 'base64').toString('base64') : compact;
}

// Why a tree does not become the struct of its kind: merged and applied objects are not read from JSON by kube-apiserver
// but rebuilt from their trees, which has words of its own.
import { FloatLiteral } from '../../lib/json/float-literal.js';
import { goTypeName } from '../../lib/go/value.js';
import type { DecodeError } from '../../schema/json/decode.js';
import { goType } from '../../schema/json/explain.js';
import type { ScalarName, Type } from '../../schema/type.js';

export function restoreError({ message, mismatch }: DecodeError): string {
  if (mismatch === undefined) {
    return message.startsWith('illegal base64') ? `error decoding from json: ${message}` : message;
  }
  const { type, value } = mismatch;
  const found = value instanceof FloatLiteral ? 'float64' : goTypeName(value);
  const kind = KINDS[found] ?? found;
  switch (type.kind) {
    case 'list':
      return `cannot restore slice from ${kind}`;
    case 'map':
      return `cannot restore map from ${kind}`;
    case 'struct':
      return `cannot restore struct from: ${kind}`;
    case 'scalar':
      return scalarError(type, type.scalar, kind) ?? message.replace(/Go struct field \S+ of type/, 'Go value of type');
  }
}

const KINDS: Readonly<Record<string, string>> = { 'map[string]interface {}': 'map', '[]interface {}': 'slice' };

/** Undefined for what reads itself from JSON. */
function scalarError(type: Type, scalar: ScalarName, found: string): string | undefined {
  switch (scalar) {
    case 'bytes':
      return `cannot restore slice from ${found}`;
    case 'string':
      // To Go an integer is convertible to a string, though not here.
      return found === 'int64' ? `cannot convert int64 to ${goType(type)}` : 'unrecognized type: string';
    case 'bool':
      return 'unrecognized type: bool';
    case 'int32':
    case 'int64':
      // kube-apiserver keeps what is left of a number that is too large; here it is refused.
      if (found === 'int64') return undefined;
      return found === 'float64' ? `cannot convert float64 to ${goType(type)}` : `unrecognized type: ${scalar}`;
    case 'double':
      return 'unrecognized type: float64';
    default:
      return undefined;
  }
}

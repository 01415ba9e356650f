import { FloatLiteral } from '../json/float-literal.js';

/** How Go's JSON decoder names what it found where it wanted something else. */
export function goJsonKind(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint' || value instanceof FloatLiteral) return 'number';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}

/** What that decoder says of it; `into` names the type it wanted, or the member that has it. */
export const cannotUnmarshal = (found: unknown, into: string): string =>
  `json: cannot unmarshal ${goJsonKind(found)} into ${into}`;

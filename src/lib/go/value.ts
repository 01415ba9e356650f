// A JSON value as Go's %v formats it: some error messages of the API carry that text.
import { goFloatText, isGoFloat } from './float.js';
import { goQuote } from './quote.js';

export function goValueText(value: unknown): string {
  if (value === null || value === undefined) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goValueText).join(' ')}]`;
  if (typeof value === 'object') {
    const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return `map[${members.map(([key, member]) => `${key}:${goValueText(member)}`).join(' ')}]`;
  }
  if (typeof value === 'number' && isGoFloat(value)) return goFloatText(value);
  return typeof value === 'string' ? value : JSON.stringify(typeof value === 'bigint' ? Number(value) : value);
}

/** A JSON value as Go's %#v formats it: in Go syntax. */
export function goSyntaxText(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntaxText).join(', ')}}`;
  if (typeof value !== 'object') return goValueText(value);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${members.map(([key, member]) => `${goQuote(key)}:${goSyntaxText(member)}`).join(', ')}}`;
}

/** A JSON value as Go's %s formats it, which marks what is not a string. */
export function goStringText(value: unknown): string {
  if (typeof value === 'string' || Array.isArray(value)) return goValueText(value);
  if (value === null || value === undefined) return '%!s(<nil>)';
  return typeof value === 'object' ? goValueText(value) : `%!s(${goTypeName(value)}=${goValueText(value)})`;
}

/** The Go type a parsed JSON value has: `map[string]interface {}`, `int64`. */
export function goTypeName(value: unknown): string {
  if (value === null || value === undefined) return '%!s(<nil>)';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return isGoFloat(value) ? 'float64' : 'int64';
    default:
      return 'map[string]interface {}';
  }
}

import { isPlainObject, setMember } from '../lib/values/plain-object.js';
import type { Type } from './type.js';

/**
 * The value with its members in the order in which its type encodes them: for an object that is encoded as a part
 * of something that does not know its type. Keys of maps, and trees without a type, go by name.
 */
export function inFieldOrder(type: Type, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  switch (type.kind) {
    case 'list':
      return Array.isArray(value) ? value.map((element) => inFieldOrder(type.element, element)) : value;
    case 'map':
      return sorted(value, (member) => inFieldOrder(type.value, member));
    case 'scalar':
      return value;
    case 'struct': {
      if (type.unstructured !== undefined) return byName(value);
      const ordered: Record<string, unknown> = {};
      for (const field of type.fields) {
        const member = (value as Readonly<Record<string, unknown>>)[field.json];
        if (member !== undefined) ordered[field.json] = inFieldOrder(field.type, member);
      }
      return ordered;
    }
  }
}

function byName(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(byName);
  return isPlainObject(value) ? sorted(value, byName) : value;
}

function sorted(object: object, each: (member: unknown) => unknown): Record<string, unknown> {
  const ordered: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) {
    setMember(ordered, key, each(member));
  }
  return ordered;
}

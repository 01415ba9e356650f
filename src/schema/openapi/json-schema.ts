// The words of the two forms of OpenAPI, as plain JSON.

/** `v2` is Swagger 2.0, `v3` OpenAPI 3.0. */
export type SchemaForm = 'v2' | 'v3';

export interface JsonSchema {
  readonly [word: string]: unknown;
}

const PREFIX: Readonly<Record<SchemaForm, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' };

export const referenceTo = (form: SchemaForm, name: string): JsonSchema => ({ $ref: `${PREFIX[form]}${name}` });

/** Every definition a schema refers to. */
export function referencesIn(value: unknown, found: Set<string>): Set<string> {
  if (Array.isArray(value)) {
    for (const item of value) referencesIn(item, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const member = (value as JsonSchema)[key];
      if (typeof member === 'object') referencesIn(member, found);
      else if (key === '$ref' && typeof member === 'string') found.add(member.slice(member.lastIndexOf('/') + 1));
    }
  }
  return found;
}

/** With its keys in order, as documents are encoded. */
export const sortedByKey = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

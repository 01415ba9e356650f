// Paths like `.spec.color` or `.labels['a.b']`, checked against the schema they lead through.
import { type Schema, additionalOf } from './schema-walk.js';

export type FoundField =
  | { readonly steps: readonly string[]; readonly path: string; readonly schema: Schema | undefined }
  | { readonly error: string };

export interface FieldPathRules {
  /** `['name']` beside `.name`. */
  readonly brackets: boolean;
}

/** The schema at the end of the path, or why there is none. */
export function findField(text: string, root: Schema, { brackets }: FieldPathRules): FoundField {
  const tokens = tokenize(text);
  const steps: string[] = [];
  let path = '';
  let schema: Schema | undefined = root;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    let name: string | undefined;
    if (token === '[') {
      if (!brackets) return { error: 'array notation is not allowed' };
      const quoted = tokens[++i];
      if (quoted === undefined) return { error: 'unexpected end of JSON path' };
      if (quoted.length < 2 || !quoted.startsWith("'") || !quoted.endsWith("'")) {
        return { error: `expected single quoted string but got ${quoted}` };
      }
      name = quoted.slice(1, -1).replace(/\\(.)/g, '$1');
    } else if (token === '.') {
      name = tokens[++i];
      if (name === undefined) return { error: 'unexpected end of JSON path' };
    } else return { error: `expected [ or . but got: ${token ?? ''}` };
    const step = stepInto(schema, name);
    if (step === undefined) return { error: 'does not refer to a valid field' };
    schema = step.schema;
    path += step.isProperty ? (path === '' ? name : `.${name}`) : `[${name}]`;
    steps.push(name);
    if (token !== '[') continue;
    const close = tokens[++i];
    if (close === undefined) return { error: 'unexpected end of JSON path' };
    if (close !== ']') return { error: `expected ] but got ${close}` };
  }
  return { steps, path, schema };
}

function stepInto(
  schema: Schema | undefined,
  name: string,
): { schema: Schema | undefined; isProperty: boolean } | undefined {
  if (schema === undefined) return undefined;
  const { properties } = schema;
  if (properties !== undefined && Object.keys(properties).length > 0) {
    return Object.hasOwn(properties, name) ? { schema: properties[name], isProperty: true } : undefined;
  }
  if (schema.additionalProperties === undefined) return undefined;
  return { schema: additionalOf(schema), isProperty: false };
}

/** Delimiters and what stands between them; a quoted text is one token. */
const tokenize = (text: string): string[] => text.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]]+/g) ?? [];

// What other servers' documents add to this server's own: no path twice, and where two mean different things by one
// name the later one's is renamed.
import { deepEqual } from '../../lib/values/deep-equal.js';
import { isPlainObject, setMember } from '../../lib/values/plain-object.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { JsonSchema } from './json-schema.js';
import { DEFINITIONS, namedBy, PARAMETERS, type Swagger, withPaths } from './swagger.js';

/** The document that others add to, which is never read as a whole. */
export interface OwnSwagger {
  hasPath(path: string): boolean;
  definition(name: string): JsonSchema | undefined;
  parameter(name: string): JsonSchema | undefined;
}

/** A definition of the own document that has more kinds now stands here as well, in place of it. */
export type SwaggerAdditions = Omit<Swagger, 'rest'>;

const KINDS = 'x-kubernetes-group-version-kind';

/** Earlier documents come before later ones; the own document before all. */
export async function mergeSwagger(own: OwnSwagger, documents: readonly Swagger[]): Promise<SwaggerAdditions> {
  const paths = new Map<string, JsonSchema>();
  const definitions = new Map<string, JsonSchema>();
  const parameters = new Map<string, JsonSchema>();
  const knownDefinitions: Names = {
    get: (name) => definitions.get(name) ?? own.definition(name),
    // What is built in is described in this server's own words, and means the same.
    equal: (name, a, b) => deepEqual(...withoutWords(own.definition(name) !== undefined, a, b)),
  };
  const knownParameters: Names = {
    get: (name) => parameters.get(name) ?? own.parameter(name),
    equal: (_, a, b) => deepEqual(a, b),
  };
  const yielder = new Yielder();
  for (const document of documents) {
    const isNew = (path: string): boolean => !paths.has(path) && !own.hasPath(path);
    const added = [...document.paths.keys()].every(isNew) ? document : await withPaths(document, isNew);
    if (added.paths.size === 0) continue;
    const renames = {
      definitions: await renamed(added.definitions, knownDefinitions, yielder),
      parameters: await renamed(added.parameters, knownParameters, yielder),
    };
    for (const [name, schema] of added.definitions) {
      const to = renames.definitions.get(name) ?? name;
      const known = knownDefinitions.get(to);
      const grown = known === undefined ? withReferences(schema, renames) : withKindsOf(known, schema);
      if (grown !== undefined) definitions.set(to, grown);
      await yielder.yieldIfDue();
    }
    for (const [name, parameter] of added.parameters) {
      const to = renames.parameters.get(name) ?? name;
      if (knownParameters.get(to) === undefined) parameters.set(to, withReferences(parameter, renames));
    }
    for (const [path, item] of added.paths) {
      paths.set(path, withReferences(item, renames));
      await yielder.yieldIfDue();
    }
  }
  return { paths, definitions, parameters };
}

interface Names {
  get(name: string): JsonSchema | undefined;
  equal(name: string, a: JsonSchema, b: JsonSchema): boolean;
}

/** Names that mean something else already, with those they get: `Crate_v2`, or the first number that is free. */
async function renamed(
  added: ReadonlyMap<string, JsonSchema>,
  known: Names,
  yielder: Yielder,
): Promise<Map<string, string>> {
  const renames = new Map<string, string>();
  const used = new Set<string>();
  for (const [name, schema] of added) {
    await yielder.yieldIfDue();
    const existing = known.get(name);
    if (existing === undefined || known.equal(name, existing, schema)) continue;
    for (let number = 2; ; number++) {
      const other = `${name}_v${number}`;
      const there = known.get(other);
      if (there === undefined ? added.has(other) || used.has(other) : !known.equal(other, there, schema)) continue;
      renames.set(name, other);
      used.add(other);
      break;
    }
  }
  return renames;
}

interface Renames {
  readonly definitions: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

function withReferences(schema: JsonSchema, renames: Renames): JsonSchema {
  if (renames.definitions.size === 0 && renames.parameters.size === 0) return schema;
  return mapMembers(schema, (name, member) => {
    if (name !== '$ref' || typeof member !== 'string') return member;
    const definition = renames.definitions.get(namedBy(member, DEFINITIONS) ?? '');
    if (definition !== undefined) return `${DEFINITIONS}${definition}`;
    const parameter = renames.parameters.get(namedBy(member, PARAMETERS) ?? '');
    return parameter === undefined ? member : `${PARAMETERS}${parameter}`;
  });
}

/** A copy, in which `change` has had its say about each member that is no object; undefined leaves it out. */
export function mapMembers(schema: JsonSchema, change: (name: string, member: unknown) => unknown): JsonSchema {
  const copied: Record<string, unknown> = {};
  const copyOf = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copyOf);
    return isPlainObject(value) ? mapMembers(value, change) : value;
  };
  for (const [name, member] of Object.entries(schema)) {
    const changed = change(name, member);
    if (changed !== undefined) setMember(copied, name, copyOf(changed));
  }
  return copied;
}

/** The kinds of two are united where they are merged, so they make no difference. */
function withoutWords(described: boolean, ...schemas: [JsonSchema, JsonSchema]): [JsonSchema, JsonSchema] {
  const bare = ({ [KINDS]: _kinds, ...schema }: JsonSchema): JsonSchema =>
    described
      ? mapMembers(schema, (name, member) =>
          name === 'description' && typeof member === 'string' ? undefined : member,
        )
      : schema;
  return [bare(schemas[0]), bare(schemas[1])];
}

/** Undefined where nothing is new. */
function withKindsOf(known: JsonSchema, added: JsonSchema): JsonSchema | undefined {
  const before = kindsOf(known);
  const seen = new Set(before.map(([key]) => key));
  const fresh = kindsOf(added).filter(([key]) => !seen.has(key));
  if (fresh.length === 0) return undefined;
  const all = [...before, ...fresh].sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...known, [KINDS]: all.map(([, kind]) => kind) };
}

const kindsOf = ({ [KINDS]: kinds }: JsonSchema): [string, JsonSchema][] =>
  Array.isArray(kinds)
    ? kinds.filter(isPlainObject).map((kind) => [`${text(kind.group)}/${text(kind.version)}.${text(kind.kind)}`, kind])
    : [];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

// Another server's document in Swagger 2.0, read in short slices, and the part of it that describes one group version.
import { JsonCursor, JsonTextError } from './json-cursor.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { JsonSchema } from './json-schema.js';
import { isDefinition, isDocumentMember, isParameter, isPathItem } from './swagger-shape.js';

/** Members by name, each list as a map: names come from others. */
export interface Swagger {
  readonly paths: ReadonlyMap<string, JsonSchema>;
  readonly definitions: ReadonlyMap<string, JsonSchema>;
  readonly parameters: ReadonlyMap<string, JsonSchema>;
  /** What else it says: `info`, `securityDefinitions` and the like. */
  readonly rest: ReadonlyMap<string, unknown>;
}

/** The largest schemas of the API have some tens of kilobytes. */
const LIMITS = { maxValueBytes: 1024 * 1024, maxDepth: 200 };

/** Rejects with a JsonTextError for what is no such document. */
export async function readSwagger(bytes: Buffer): Promise<Swagger> {
  const yielder = new Yielder();
  const cursor = new JsonCursor(bytes, LIMITS);
  const lists = { paths: new Map(), definitions: new Map(), parameters: new Map() };
  const rest = new Map<string, unknown>();
  if (!cursor.enter()) throw new JsonTextError('an object was expected');
  for (let name = cursor.nextName(); name !== undefined; name = cursor.nextName()) {
    if (name === 'paths' || name === 'definitions' || name === 'parameters') {
      await readList(cursor, lists[name], SHAPES[name], yielder);
    } else {
      const value = cursor.value();
      if (!isDocumentMember(name, value)) throw new JsonTextError(`${name} is of another type`);
      rest.set(name, value);
    }
  }
  cursor.end();
  return { ...lists, rest };
}

const SHAPES = { paths: isPathItem, definitions: isDefinition, parameters: isParameter };

async function readList(
  cursor: JsonCursor,
  list: Map<string, JsonSchema>,
  isShaped: (value: unknown) => boolean,
  yielder: Yielder,
): Promise<void> {
  if (!cursor.enter()) return;
  for (let name = cursor.nextName(); name !== undefined; name = cursor.nextName()) {
    const value = cursor.value();
    // Vendors may say something about all paths; nobody reads it.
    if (isPlainObject(value)) {
      if (!isShaped(value) && !name.startsWith('x-')) throw new JsonTextError(`${name} has a member of another type`);
      list.set(name, value);
    } else if (!name.startsWith('x-')) throw new JsonTextError(`${name} is no object`);
    await yielder.yieldIfDue();
  }
}

/**
 * The paths below the prefix, and the definitions they need. Definitions that no path of the document needs stay: they
 * were not left over by this choice.
 */
export async function partOf(document: Swagger, prefix: string): Promise<Swagger> {
  return withPaths(document, (path) => path.startsWith(prefix));
}

export async function withPaths(document: Swagger, keep: (path: string) => boolean): Promise<Swagger> {
  const yielder = new Yielder();
  const paths = new Map([...document.paths].filter(([path]) => keep(path)));
  const before = await usedDefinitions(document, document.paths.values(), yielder);
  const after = await usedDefinitions(document, paths.values(), yielder);
  const definitions = new Map([...document.definitions].filter(([name]) => after.has(name) || !before.has(name)));
  return { ...document, paths, definitions };
}

async function usedDefinitions(
  { definitions, parameters }: Swagger,
  roots: Iterable<JsonSchema>,
  yielder: Yielder,
): Promise<Set<string>> {
  const used = new Set<string>();
  const found: string[] = [];
  const visit = (reference: string): undefined => void found.push(reference);
  for (const root of roots) {
    eachReference(root, visit);
    await yielder.yieldIfDue();
  }
  const seen = new Set<string>();
  for (let reference = found.pop(); reference !== undefined; reference = found.pop()) {
    if (seen.has(reference)) continue;
    seen.add(reference);
    const name = namedBy(reference, DEFINITIONS);
    if (name !== undefined) used.add(name);
    eachReference(
      name === undefined ? parameters.get(namedBy(reference, PARAMETERS) ?? '') : definitions.get(name),
      visit,
    );
    await yielder.yieldIfDue();
  }
  return used;
}

export const DEFINITIONS = '#/definitions/';
export const PARAMETERS = '#/parameters/';

export const namedBy = (reference: string, prefix: string): string | undefined =>
  reference.startsWith(prefix) ? reference.slice(prefix.length) : undefined;

function eachReference(value: unknown, visit: (reference: string) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) eachReference(item, visit);
  } else if (isPlainObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (name === '$ref' && typeof member === 'string') visit(member);
      else eachReference(member, visit);
    }
  }
}

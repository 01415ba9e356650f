// The documents: which operations each tells of, and how a document is put together from them.
import { compareText } from '../lib/compare-text.js';
import crypto from 'node:crypto';
import { apiVersionOf } from '../machinery/object.js';
import { append } from '../lib/append.js';
import { atOnce, type Steps } from '../lib/turns.js';
import type { Definitions } from '../schema/openapi/definitions.js';
import { type JsonSchema, referenceTo, type SchemaForm, sortedByKey } from '../schema/openapi/json-schema.js';
import type { Endpoint } from './endpoint.js';
import { MEDIA_TYPES, type MediaType } from './media-types.js';
import { groupWords, type Parameter, type Route, UNAUTHORIZED } from './openapi-route.js';
import { resourceRoutes } from './openapi-resource-routes.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The operations by the document of form 3 that tells of them: `api/v1`, `apis/apps`, `version`. */
export function routesByDocument(
  endpoints: Iterable<Endpoint>,
  mediaTypes: readonly MediaType[],
  beside: ReadonlyMap<string, readonly Route[]>,
): Map<string, () => Route[]> {
  const versions = new Map<string, Endpoint[]>();
  const groups = new Set<string>();
  for (const endpoint of endpoints) {
    const { group } = endpoint.kind;
    const name = group === '' ? `api/${endpoint.kind.version}` : `apis/${apiVersionOf(endpoint.kind)}`;
    const known = versions.get(name);
    if (known === undefined) versions.set(name, [endpoint]);
    else known.push(endpoint);
    if (group !== '' && !endpoint.definition.custom) groups.add(group);
  }
  const documents = new Map<string, () => Route[]>([
    ['api', () => [discoveryRoute({ path: '/api/', id: 'getCoreAPIVersions', tag: 'core', answer: 'APIVersions' })]],
    ['apis', () => [discoveryRoute({ path: '/apis/', id: 'getAPIVersions', tag: 'apis', answer: 'APIGroupList' })]],
  ]);
  for (const group of groups) {
    const { id, tag } = groupWords({ group });
    documents.set(`apis/${group}`, () => [
      discoveryRoute({ path: `/apis/${group}/`, id: `get${id}APIGroup`, tag, answer: 'APIGroup' }),
    ]);
  }
  for (const [name, members] of versions) {
    documents.set(name, () => versionRoutes(name, members, mediaTypes));
  }
  for (const [name, routes] of beside) documents.set(name, () => [...routes]);
  return documents;
}

function versionRoutes(name: string, endpoints: readonly Endpoint[], mediaTypes: readonly MediaType[]): Route[] {
  const routes = endpoints.flatMap((endpoint) => resourceRoutes(endpoint, mediaTypes));
  // Documents of custom kinds tell of nothing else.
  if (endpoints.every(({ definition }) => definition.custom)) return routes;
  const { id, tag } = groupWords(endpoints[0]?.kind ?? {});
  const discovery = { path: `/${name}/`, id: `get${id}APIResources`, tag, answer: 'APIResourceList', mediaTypes };
  return [discoveryRoute(discovery), ...routes];
}

interface DiscoveryRoute {
  readonly path: string;
  readonly id: string;
  readonly tag: string;
  readonly answer: string;
  readonly mediaTypes?: readonly MediaType[];
}

const DISCOVERY_WORDS: Readonly<Record<string, string>> = {
  APIVersions: 'Tells which versions of the core group are served.',
  APIGroupList: 'Tells which groups are served, with their versions.',
  APIGroup: 'Tells which versions of the group are served, and which one is preferred.',
  APIResourceList: 'Tells which resources of the version are served, with their verbs and names.',
};

function discoveryRoute({ path, id, tag, answer, mediaTypes = MEDIA_TYPES }: DiscoveryRoute): Route {
  const media = mediaTypes.map(({ name }) => name);
  return {
    path,
    method: 'get',
    operationId: id,
    tags: [tag],
    description: DISCOVERY_WORDS[answer] ?? '',
    parameters: [],
    consumes: media,
    produces: media,
    responses: [{ code: 200, description: 'OK', definition: `${META}.${answer}` }, UNAUTHORIZED],
  };
}

export interface DocumentOptions {
  /** `v1.34.9` */
  readonly version: string;
  readonly definitions: Definitions;
}

const INFO = { title: 'Kubernetes' };
const BEARER_TOKEN = {
  type: 'apiKey',
  description: 'A token in the Authorization header, after the word Bearer.',
  name: 'authorization',
  in: 'header',
};

export function documentV3(routes: readonly Route[], { version, definitions }: DocumentOptions): string {
  const paths = pathItems(routes, 'v3');
  const schemas = atOnce(definitions(definitionsIn(routes)));
  return objectText({
    openapi: '"3.0.0"',
    info: JSON.stringify({ ...INFO, version }),
    paths: JSON.stringify(paths),
    components: objectText({
      ...(schemas.size > 0 && { schemas: membersText(schemas) }),
      securitySchemes: JSON.stringify({ BearerToken: BEARER_TOKEN }),
    }),
  });
}

/** What a document of form 2 says, each member printed as it will stand there. */
export interface PartsV2 {
  readonly version: string;
  readonly paths: ReadonlyMap<string, string>;
  readonly definitions: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

/** `routes`: those of each document of form 3. */
export function* partsV2(
  routes: Iterable<() => readonly Route[]>,
  { version, definitions }: DocumentOptions,
): Steps<PartsV2> {
  const all: Route[] = [];
  for (const of of routes) {
    append(all, of());
    yield;
  }
  const shared = new Map<string, JsonSchema>();
  const paths = pathItems(all, 'v2', shared);
  yield;
  const printed = printedMembers(Object.entries(paths));
  yield;
  return {
    version,
    paths: printed,
    definitions: yield* definitions(definitionsIn(all)),
    parameters: printedMembers(Object.entries(sortedByKey(shared))),
  };
}

export const printedMembers = (members: Iterable<readonly [string, unknown]>): Map<string, string> =>
  new Map(Array.from(members, ([name, value]) => [name, `${JSON.stringify(name)}:${JSON.stringify(value)}`]));

export function documentV2({ version, paths, definitions, parameters }: PartsV2): string {
  return objectText({
    swagger: '"2.0"',
    info: JSON.stringify({ ...INFO, version }),
    paths: membersText(paths),
    definitions: membersText(definitions),
    parameters: membersText(parameters),
    securityDefinitions: JSON.stringify({ BearerToken: BEARER_TOKEN }),
    security: JSON.stringify([{ BearerToken: [] }]),
  });
}

const membersText = (members: ReadonlyMap<string, string>): string => `{${[...members.values()].join(',')}}`;

/** A JSON object of members that are JSON already. */
const objectText = (members: Readonly<Record<string, string>>): string =>
  `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`;

function definitionsIn(routes: readonly Route[]): Set<string> {
  const names = new Set<string>();
  for (const { body, responses } of routes) {
    if (body !== undefined) names.add(body.definition);
    for (const { definition } of responses) if (definition !== undefined && definition !== '') names.add(definition);
  }
  return names;
}

/** The operations by path. What all operations of a path take stands once, beside them. */
function pathItems(routes: readonly Route[], form: SchemaForm, shared = new Map<string, JsonSchema>()): JsonSchema {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const known = byPath.get(route.path);
    if (known === undefined) byPath.set(route.path, [route]);
    else known.push(route);
  }
  const pen = createPen(form, shared);
  const items = new Map<string, JsonSchema>();
  for (const [path, members] of byPath) {
    const counts = new Map<string, number>();
    for (const { parameters } of members) {
      for (const { name, in: place } of parameters) {
        const key = `${place} ${name}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    }
    const isCommon = ({ name, in: place }: Parameter): boolean => counts.get(`${place} ${name}`) === members.length;
    const common = members.at(-1)?.parameters.filter(isCommon) ?? [];
    const item: Record<string, unknown> = {};
    for (const route of members) {
      const own = route.parameters.filter((parameter) => !isCommon(parameter));
      item[route.method] = form === 'v3' ? operationV3(route, own, pen) : operationV2(route, own, pen);
    }
    if (common.length > 0) item['parameters'] = pen.parameters(common);
    items.set(path, item);
  }
  return sortedByKey(items);
}

/** Draws what returns on hundreds of operations once. */
interface Pen {
  parameters(parameters: readonly Parameter[]): JsonSchema[];
  body(body: NonNullable<Route['body']>): JsonSchema;
  content(types: readonly string[], definition: string): JsonSchema;
}

function createPen(form: SchemaForm, shared: Map<string, JsonSchema>): Pen {
  const drawn = new Map<Parameter, JsonSchema>();
  const bodies = new Map<string, JsonSchema>();
  const draw = (parameter: Parameter): JsonSchema => {
    let schema = drawn.get(parameter);
    if (schema === undefined) {
      schema = parameterOf(parameter, form);
      if (form === 'v2') schema = sharedParameter(schema, shared);
      drawn.set(parameter, schema);
    }
    return schema;
  };
  return {
    parameters: (parameters) => parameters.toSorted(byNameThenPlace).map(draw),
    body({ definition, required }) {
      const key = `${definition} ${required}`;
      let schema = bodies.get(key);
      if (schema === undefined) {
        const plain = { name: 'body', in: 'body', ...(required && { required }), schema: schemaOf('v2', definition) };
        schema = sharedParameter(plain, shared);
        bodies.set(key, schema);
      }
      return schema;
    },
    content(types, definition) {
      const media = { schema: schemaOf(form, definition) };
      const content: Record<string, unknown> = {};
      for (const type of types) content[type] = media;
      return content;
    },
  };
}

const byNameThenPlace = (a: Parameter, b: Parameter): number => compareText(a.name, b.name) || compareText(a.in, b.in);

function parameterOf({ name, in: place, type, description }: Parameter, form: SchemaForm): JsonSchema {
  const schema = { type, uniqueItems: true };
  return {
    name,
    in: place,
    ...(description !== undefined && { description }),
    ...(place === 'path' && { required: true }),
    ...(form === 'v3' ? { schema } : schema),
  };
}

function operationV3(route: Route, parameters: readonly Parameter[], pen: Pen): JsonSchema {
  const operation = operationWords(route);
  const { body } = route;
  if (parameters.length > 0) operation['parameters'] = pen.parameters(parameters);
  if (body !== undefined) {
    const content = pen.content(route.consumes, body.definition);
    operation['requestBody'] = body.required ? { content, required: true } : { content };
  }
  operation['responses'] = responsesOf(route, (definition) => ({ content: pen.content(route.produces, definition) }));
  return operation;
}

function operationV2(route: Route, parameters: readonly Parameter[], pen: Pen): JsonSchema {
  const operation = operationWords(route);
  const own = pen.parameters(parameters);
  if (route.body !== undefined) own.unshift(pen.body(route.body));
  if (route.consumes.length > 0) operation['consumes'] = route.consumes;
  if (route.produces.length > 0) operation['produces'] = route.produces;
  operation['schemes'] = HTTPS;
  if (own.length > 0) operation['parameters'] = own;
  operation['responses'] = responsesOf(route, (definition) => ({ schema: schemaOf('v2', definition) }));
  return operation;
}

const HTTPS = ['https'];

function operationWords({ description, operationId, tags, action, kind }: Route): Record<string, unknown> {
  const operation: Record<string, unknown> = {};
  if (description !== undefined) operation['description'] = description;
  operation['tags'] = tags;
  operation['operationId'] = operationId;
  if (action !== undefined) operation['x-kubernetes-action'] = action;
  if (kind !== undefined) operation['x-kubernetes-group-version-kind'] = kind;
  return operation;
}

function responsesOf({ responses }: Route, draw: (definition: string) => JsonSchema): JsonSchema {
  const drawn: Record<string, unknown> = {};
  for (const { code, description, definition } of responses) {
    drawn[code] = definition === undefined ? { description } : { description, ...draw(definition) };
  }
  return drawn;
}

const schemaOf = (form: SchemaForm, definition: string): JsonSchema =>
  definition === '' ? { type: 'string' } : referenceTo(form, definition);

/** Parameters that clients look for in each operation, to tell what a server can do. */
const NEVER_SHARED = new Set(['name', 'fieldValidation', 'dryRun']);

/** Most parameters return on hundreds of operations, so form 2 defines them once. */
function sharedParameter(parameter: JsonSchema, shared: Map<string, JsonSchema>): JsonSchema {
  const name = String(parameter['name']);
  const text = JSON.stringify(parameter);
  const ofOneKind = parameter['in'] === 'body' && !text.includes('"#/definitions/io.k8s.apimachinery');
  if (NEVER_SHARED.has(name) || ofOneKind) return parameter;
  const hash = crypto.createHash('sha256').update(text).digest().subarray(0, 6).toString('base64url');
  shared.set(`${name}-${hash}`, parameter);
  return { $ref: `#/parameters/${name}-${hash}` };
}

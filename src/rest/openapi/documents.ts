// The documents: which operations each has, and how a document is put together from them.
import { compareText } from '../../lib/text/compare-text.js';
import crypto from 'node:crypto';
import { apiVersionOf } from '../../machinery/object.js';
import { append } from '../../lib/values/append.js';
import { runSync, type StepGenerator } from '../../lib/scheduling/yield.js';
import type { Definitions } from '../../schema/openapi/definitions.js';
import { type JsonSchema, referenceTo, type SchemaForm } from '../../schema/openapi/json-schema.js';
import type { Endpoint } from '../contract/endpoint.js';
import { MEDIA_TYPES, type MediaType } from '../wire/media-types.js';
import { groupWords, type Parameter, type Route, UNAUTHORIZED } from './route.js';
import { resourceRoutes } from './resource-routes.js';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** The content of a document of OpenAPI 3. */
export interface DocumentRoutes {
  readonly endpoints: readonly Endpoint[];
  /** It has custom resources alone. */
  readonly custom: boolean;
  routes(this: void): readonly Route[];
}

/** By the names of the documents: `api/v1`, `apis/apps`, `version`. */
export function routesByDocument(
  endpoints: Iterable<Endpoint>,
  mediaTypes: readonly MediaType[],
  beside: ReadonlyMap<string, readonly Route[]>,
): Map<string, DocumentRoutes> {
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
  const documents = new Map<string, DocumentRoutes>();
  const add = (name: string, routes: () => readonly Route[], of: readonly Endpoint[] = NONE): void => {
    documents.set(name, { endpoints: of, custom: areCustom(of), routes });
  };
  add('api', () => [discoveryRoute({ path: '/api/', id: 'getCoreAPIVersions', tag: 'core', answer: 'APIVersions' })]);
  add('apis', () => [discoveryRoute({ path: '/apis/', id: 'getAPIVersions', tag: 'apis', answer: 'APIGroupList' })]);
  for (const group of groups) {
    add(`apis/${group}`, () => {
      const { id, tag } = groupWords({ group });
      return [discoveryRoute({ path: `/apis/${group}/`, id: `get${id}APIGroup`, tag, answer: 'APIGroup' })];
    });
  }
  for (const [name, members] of versions) add(name, () => versionRoutes(name, members, mediaTypes), members);
  for (const [name, routes] of beside) add(name, () => routes);
  return documents;
}

const NONE: readonly Endpoint[] = [];

const areCustom = (endpoints: readonly Endpoint[]): boolean =>
  endpoints.length > 0 && endpoints.every(({ definition }) => definition.custom);

function versionRoutes(name: string, endpoints: readonly Endpoint[], mediaTypes: readonly MediaType[]): Route[] {
  const routes = endpoints.flatMap((endpoint) => resourceRoutes(endpoint, mediaTypes));
  // Documents of custom kinds have nothing else.
  if (areCustom(endpoints)) return routes;
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
  /** The release that is emulated: `1.34`. */
  readonly version: string;
  readonly definitions: Definitions;
}

const INFO = { title: 'Kubernetes' };
const CUSTOM_INFO = { title: 'Kubernetes CRD Swagger', version: 'v0.1.0' };
const BEARER_TOKEN = {
  type: 'apiKey',
  description: 'A token in the Authorization header, after the word Bearer.',
  name: 'authorization',
  in: 'header',
};

export function documentV3(
  document: Pick<DocumentRoutes, 'custom' | 'routes'>,
  { version, definitions }: DocumentOptions,
): Buffer {
  const { custom } = document;
  const routes = document.routes();
  const paths = pathItems(routes, 'v3');
  const schemas = runSync(definitions(definitionsIn(routes)));
  return encodedObject({
    openapi: ['"3.0.0"'],
    info: [JSON.stringify(custom ? CUSTOM_INFO : { ...INFO, version })],
    paths: inBraces(encodedMembers(inNameOrder(paths))),
    components: [
      '{',
      ...(schemas.size > 0 ? ['"schemas":', ...inBraces(schemas)] : []),
      ...(schemas.size > 0 && !custom ? [','] : []),
      ...(custom ? [] : [`"securitySchemes":${JSON.stringify({ BearerToken: BEARER_TOKEN })}`]),
      '}',
    ],
  });
}

/** The content of an OpenAPI 2 document, each member encoded as it will stand there. */
export interface PartsV2 {
  readonly version: string;
  readonly paths: ReadonlyMap<string, string>;
  readonly definitions: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The content of an OpenAPI 3 document, as it stands in the OpenAPI 2 one. */
export interface ShareV2 extends Pick<PartsV2, 'paths'> {
  readonly parameters: ReadonlyMap<string, JsonSchema>;
  readonly definitions: ReadonlySet<string>;
}

export function shareV2(routes: readonly Route[]): ShareV2 {
  const shared = new Map<string, JsonSchema>();
  const paths = encodedMembers(pathItems(routes, 'v2', shared));
  return { paths, parameters: shared, definitions: definitionsIn(routes) };
}

/** `shares`: those of each document of form 3. */
export function* partsV2(
  shares: Iterable<() => ShareV2>,
  { version, definitions }: DocumentOptions,
): StepGenerator<PartsV2> {
  const paths = new Map<string, string>();
  const parameters = new Map<string, JsonSchema>();
  const names = new Set<string>();
  for (const of of shares) {
    const share = of();
    for (const [path, text] of share.paths) paths.set(path, text);
    for (const [name, parameter] of share.parameters) parameters.set(name, parameter);
    for (const name of share.definitions) names.add(name);
    yield;
  }
  return {
    version,
    paths: inNameOrder(paths),
    definitions: yield* definitions(names),
    parameters: encodedMembers(inNameOrder(parameters)),
  };
}

const inNameOrder = <T>(members: ReadonlyMap<string, T>): Map<string, T> =>
  new Map([...members].sort(([a], [b]) => (a < b ? -1 : 1)));

export const encodedMembers = (members: Iterable<readonly [string, unknown]>): Map<string, string> =>
  new Map(Array.from(members, ([name, value]) => [name, `${JSON.stringify(name)}:${JSON.stringify(value)}`]));

export function documentV2({ version, paths, definitions, parameters }: PartsV2): Buffer {
  return encodedObject({
    swagger: ['"2.0"'],
    info: [JSON.stringify({ ...INFO, version })],
    paths: inBraces(paths),
    definitions: inBraces(definitions),
    parameters: inBraces(parameters),
    securityDefinitions: [JSON.stringify({ BearerToken: BEARER_TOKEN })],
    security: [JSON.stringify([{ BearerToken: [] }])],
  });
}

/** The members of an object, and what stands between them. */
function inBraces(members: ReadonlyMap<string, string>): string[] {
  const texts: string[] = [];
  for (const text of members.values()) texts.push(texts.length === 0 ? '{' : ',', text);
  texts.push(texts.length === 0 ? '{}' : '}');
  return texts;
}

/** A JSON object of members that are JSON already, in parts. */
function encodedObject(members: Readonly<Record<string, readonly string[]>>): Buffer {
  const texts: string[] = [];
  for (const [name, parts] of Object.entries(members)) {
    texts.push(`${texts.length === 0 ? '{' : ','}"${name}":`);
    append(texts, parts);
  }
  texts.push('}');
  return bytesOf(texts);
}

/** One by one: a character beyond Latin-1 would make all that it is joined with twice as large, and slow to write. */
function bytesOf(texts: readonly string[]): Buffer {
  let length = 0;
  for (const text of texts) length += Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const text of texts) at += bytes.write(text, at);
  return bytes;
}

function definitionsIn(routes: readonly Route[]): Set<string> {
  const names = new Set<string>();
  for (const { body, responses } of routes) {
    if (body !== undefined) names.add(body.definition);
    for (const { definition } of responses) if (definition !== undefined && definition !== '') names.add(definition);
  }
  return names;
}

/** The operations by path. The parameters of all operations of a path stand once, beside them. */
function pathItems(
  routes: readonly Route[],
  form: SchemaForm,
  shared = new Map<string, JsonSchema>(),
): Map<string, JsonSchema> {
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
  return items;
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
      schema = form === 'v3' ? parameterOf(parameter, form) : referred(knownDrawing(parameter), shared);
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
        schema = referred(drawingOf(plain, definition.startsWith('io.k8s.apimachinery')), shared);
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

/** Parameters that clients look for in each operation, to learn what a server can do. */
const NEVER_SHARED = new Set(['name', 'fieldValidation', 'dryRun']);

/** A parameter of form 2. Most return on hundreds of operations: those are defined once, under a name. */
interface Drawing {
  readonly parameter: JsonSchema;
  readonly sharedAs: string | undefined;
}

/** The same ones return in most documents. */
const drawings = new WeakMap<Parameter, Drawing>();

function knownDrawing(parameter: Parameter): Drawing {
  let drawing = drawings.get(parameter);
  if (drawing === undefined) {
    drawing = drawingOf(parameterOf(parameter, 'v2'), !NEVER_SHARED.has(parameter.name));
    drawings.set(parameter, drawing);
  }
  return drawing;
}

function drawingOf(parameter: JsonSchema, isShared: boolean): Drawing {
  if (!isShared) return { parameter, sharedAs: undefined };
  const hash = crypto.createHash('sha256').update(JSON.stringify(parameter)).digest().subarray(0, 6);
  return { parameter, sharedAs: `${String(parameter['name'])}-${hash.toString('base64url')}` };
}

/** As it stands in an operation. */
function referred({ parameter, sharedAs }: Drawing, shared: Map<string, JsonSchema>): JsonSchema {
  if (sharedAs === undefined) return parameter;
  shared.set(sharedAs, parameter);
  return { $ref: `#/parameters/${sharedAs}` };
}

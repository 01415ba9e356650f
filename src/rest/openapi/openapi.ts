// Serves the OpenAPI documents: /openapi/v2 as a whole, /openapi/v3 as an index and a document per group version.
// They are built on first request, and again when kinds came or went.
import { setImmediate } from 'node:timers/promises';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { runSync, runCooperatively } from '../../lib/scheduling/yield.js';
import { sameItems } from '../../lib/values/memoize-last.js';
import { createDefinitions, type Definition, type Definitions } from '../../schema/openapi/definitions.js';
import { kindsClientsKnow, kindsOfType } from '../../schema/openapi/group-version-kinds.js';
import type { SchemaForm } from '../../schema/openapi/json-schema.js';
import { compressed } from '../wire/compress.js';
import type { Endpoint } from '../contract/endpoint.js';
import type { MediaType } from '../wire/media-types.js';
import { parseAccept } from '../wire/negotiate.js';
import { type ExtensionDocuments, MergedDocument } from './extension-documents.js';
import { CustomDefinitions } from './openapi.worker.js';
import {
  documentV2,
  documentV3,
  type PartsV2,
  partsV2,
  type ShareV2,
  shareV2,
  type DocumentRoutes,
  routesByDocument,
} from './documents.js';
import type { Route } from './route.js';
import { PublishedDocument } from './published-document.js';

export interface OpenApiOptions {
  /** Called on each request: kinds come and go. One list by identity until they do. */
  readonly endpoints: () => readonly Endpoint[];
  readonly mediaTypes: readonly MediaType[];
  /** The release that is emulated: `1.34`. */
  readonly version: string;
  /** Whether the values of closed string types are published. */
  readonly enums: boolean;
  /** What the build encoded of built-in types with their values, if it did. */
  readonly builtIn?: (form: SchemaForm) => ReadonlyMap<string, Definition> | undefined;
  /** The operations of what is served beside the API, by document. */
  readonly beside: ReadonlyMap<string, readonly Route[]>;
  readonly extensions?: ExtensionDocuments;
  /** Where what is large is made. */
  readonly workers?: WorkerPool | undefined;
  readonly now: () => Date;
}

export interface OpenApi {
  /** Answers the paths of the documents; undefined for any other. */
  readonly handle: (request: HttpRequest, path: string) => MaybePromise<HttpResponse> | undefined;
  /** Whether this server itself has the document of form 3. */
  readonly has: (name: string) => boolean;
}

export const OPENAPI_PATHS = ['/openapi/v2', '/openapi/v3', '/openapi/v3/'];

export function createOpenApi(options: OpenApiOptions): OpenApi {
  const { extensions, workers } = options;
  const documents = createDocuments(options);
  const merged = new MergedDocument(options.now);
  const has = (name: string): boolean => documents.current().each.has(name);
  const document = (name: string): PublishedDocument | undefined =>
    extensions?.converted().get(name) ?? documents.current().each.get(name)?.v3;
  const prepared = (
    form: SchemaForm,
    name: string | undefined,
    answer: () => MaybePromise<HttpResponse>,
  ): MaybePromise<HttpResponse> => whenReady(documents.prepare(form, name), answer);
  return {
    has,
    handle(request, path) {
      if (!path.startsWith('/openapi/')) return undefined;
      if (path === '/openapi/v2') {
        return prepared('v2', undefined, () => {
          const own = documents.current().v2;
          const swaggers = extensions?.swaggers() ?? [];
          if (swaggers.length === 0) return answerV2(request, own.document, workers);
          return merged.of(own.parts(), swaggers).then((whole) => answerV2(request, whole, workers));
        });
      }
      if (path === '/openapi/v3') {
        return prepared('v3', undefined, () => {
          const own = Array.from(documents.current().each, ([name, { v3 }]) => [name, v3] as const);
          const all = new Map([...own, ...(extensions?.converted() ?? [])]);
          return answerIndex(request, all, extensions?.index(has) ?? new Map(), options.now());
        });
      }
      if (!path.startsWith('/openapi/v3/')) return undefined;
      const name = path.slice('/openapi/v3/'.length);
      return prepared('v3', name, () => {
        const found = document(name);
        if (found === undefined) return { status: 404, headers: {}, body: '' };
        return answerV3(request, { name, document: found, now: options.now(), workers });
      });
    },
  };
}

interface Documents {
  readonly v2: {
    readonly document: PublishedDocument;
    parts(): PartsV2;
    /** Makes the parts cooperatively. */
    build(): Promise<void>;
    isBuilt(): boolean;
  };
  /** By the names of documents of form 3. */
  readonly each: ReadonlyMap<string, OneDocument>;
}

interface OneDocument extends Pick<DocumentRoutes, 'endpoints'> {
  readonly v3: PublishedDocument;
  /** What it adds to the document of form 2. */
  share(this: void): ShareV2;
}

interface CurrentDocuments {
  current(): Documents;
  /** To be awaited before a document is read: the slow work for all documents of a form, or for the one of a name. */
  prepare(form: SchemaForm, name?: string): Promise<unknown> | undefined;
}

/** Documents live as long as the endpoints they describe; a change of one group leaves the others' as they are. */
function createDocuments(options: OpenApiOptions): CurrentDocuments {
  let custom: ReadonlyMap<string, Endpoint> = new Map();
  const encoded = { v2: new CustomDefinitions('v2'), v3: new CustomDefinitions('v3') };
  const definitions = (form: SchemaForm, kindsOf = kindsOfType): Definitions => {
    let builtIn: ReadonlyMap<string, Definition> | undefined;
    return createDefinitions({
      form,
      enums: options.enums,
      kindsOf,
      custom: (name) => custom.get(name)?.definition.openApiSchema?.(form, name),
      encoded(name) {
        const endpoint = custom.get(name);
        if (endpoint !== undefined) return encoded[form].of(endpoint, name);
        if (kindsOf(name) !== kindsOfType(name)) return undefined;
        builtIn ??= (options.enums ? options.builtIn?.(form) : undefined) ?? NONE_ENCODED;
        return builtIn.get(name);
      },
    });
  };
  const v2 = { version: options.version, definitions: definitions('v2') };
  const v3 = { version: options.version, definitions: definitions('v3') };
  const customV3 = { version: options.version, definitions: definitions('v3', kindsClientsKnow) };
  let known: readonly Endpoint[] = [];
  let documents: Documents | undefined;
  const build = (endpoints: readonly Endpoint[]): Documents => {
    const each = new Map<string, OneDocument>();
    for (const [name, described] of routesByDocument(endpoints, options.mediaTypes, options.beside)) {
      const former = documents?.each.get(name);
      const kept = former !== undefined && sameItems(former.endpoints, described.endpoints);
      each.set(name, kept ? former : documentOf(described));
    }
    const shares = (): (() => ShareV2)[] => Array.from(each.values(), ({ share }) => share);
    let parts: PartsV2 | undefined;
    const encode = (): PartsV2 => (parts ??= runSync(partsV2(shares(), v2)));
    return {
      v2: {
        parts: encode,
        build: async () => void (parts ??= await runCooperatively(partsV2(shares(), v2))),
        isBuilt: () => parts !== undefined,
        document: new PublishedDocument(() => documentV2(encode()), 'v2', options.now()),
      },
      each,
    };
  };
  const documentOf = (described: DocumentRoutes): OneDocument => {
    let share: ShareV2 | undefined;
    return {
      endpoints: described.endpoints,
      v3: new PublishedDocument(() => documentV3(described, described.custom ? customV3 : v3), 'v3', options.now()),
      share: () => (share ??= shareV2(described.routes())),
    };
  };
  return {
    prepare(form, name) {
      const endpoints = options.endpoints();
      const { v2: whole, each } = this.current();
      const preparing = encoded[form].prepare(name === undefined ? endpoints : (each.get(name)?.endpoints ?? []));
      if (form === 'v3' || whole.isBuilt()) return preparing;
      return Promise.resolve(preparing).then(() => this.current().v2.build());
    },
    current() {
      const endpoints = options.endpoints();
      if (documents === undefined || !sameItems(known, endpoints)) {
        custom = customTypes(endpoints);
        documents = build(endpoints);
        known = endpoints;
      }
      return documents;
    },
  };
}

const NONE_ENCODED: ReadonlyMap<string, Definition> = new Map();

/** The endpoints whose types the catalogue does not know, by the names of these types. */
const customTypes = (endpoints: readonly Endpoint[]): Map<string, Endpoint> =>
  new Map(
    endpoints
      .filter(({ definition }) => definition.openApiSchema !== undefined)
      .flatMap((endpoint): [string, Endpoint][] => [
        [endpoint.type.name, endpoint],
        [endpoint.listType.name, endpoint],
      ]),
  );

const JSON_MEDIA = 'application/json';
const protobufMedia = (form: SchemaForm): string => `application/com.github.proto-openapi.spec.${form}.v1.0+protobuf`;
/** What clients requested before; it has a character that no media type may have, so answers do not say it. */
const olderProtobufMedia = (form: SchemaForm): string => protobufMedia(form).replace('.v1.0+', '@v1.0+');

function answerV2(
  request: HttpRequest,
  document: PublishedDocument,
  workers: WorkerPool | undefined,
): MaybePromise<HttpResponse> {
  const media = chooseMedia(request, 'v2');
  if (media === undefined) return { status: 406, headers: { vary: 'Accept' }, body: '' };
  return whenReady(content(request, { document, media, workers }, { vary: 'Accept' }), (response) =>
    response.status === 200 ? compressed(request, response, document.json.length) : response,
  );
}

interface Found {
  readonly name: string;
  readonly document: PublishedDocument;
  readonly now: Date;
  readonly workers: WorkerPool | undefined;
}

function answerV3(request: HttpRequest, { name, document, now, workers }: Found): MaybePromise<HttpResponse> {
  const media = chooseMedia(request, 'v3');
  if (media === undefined) return { status: 406, headers: { vary: 'Accept' }, body: '' };
  const hash = request.query.get('hash') ?? '';
  const headers = { vary: 'Accept' };
  if (hash === '') return content(request, { document, media, workers }, headers);
  if (hash !== document.hash) {
    const location = urlOf(name, document);
    return {
      status: 301,
      headers: { ...headers, 'content-type': media, etag: `"${document.hash}"`, location },
      body: '',
    };
  }
  const expires = new Date(now);
  expires.setUTCFullYear(now.getUTCFullYear() + 1);
  // What a hash names never changes.
  return content(
    request,
    { document, media, workers },
    {
      ...headers,
      'cache-control': 'public, immutable',
      expires: expires.toUTCString().replace('GMT', 'UTC'),
    },
  );
}

async function answerIndex(
  request: HttpRequest,
  documents: ReadonlyMap<string, PublishedDocument>,
  elsewhere: ReadonlyMap<string, string>,
  now: Date,
): Promise<HttpResponse> {
  const urls = new Map<string, string>();
  for (const [name, document] of documents) {
    if (!document.isBuilt) {
      document.build();
      // Building all needs some hundred milliseconds; it yields to other requests in between.
      await setImmediate();
    }
    urls.set(name, urlOf(name, document));
  }
  for (const [name, url] of elsewhere) urls.set(name, url);
  const paths = Object.fromEntries(
    [...urls.keys()].sort().map((name) => [name, { serverRelativeURL: urls.get(name) }]),
  );
  // The index is merged anew each time, so its type is guessed from its content, as files' types are.
  return {
    status: 200,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'accept-ranges': 'bytes',
      'last-modified': now.toUTCString(),
    },
    body: request.method === 'HEAD' ? '' : JSON.stringify({ paths }),
  };
}

const urlOf = (name: string, { hash }: PublishedDocument): string => `/openapi/v3/${name}?hash=${hash}`;

interface Content extends Pick<Found, 'document' | 'workers'> {
  readonly media: string;
}

function content(
  request: HttpRequest,
  { document, media, workers }: Content,
  headers: Readonly<Record<string, string>>,
): MaybePromise<HttpResponse> {
  const etag = `"${document.hash}"`;
  const known = request.headers['if-none-match'];
  if (
    known !== undefined &&
    (known === '*' || known.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
  ) {
    return { status: 304, headers: { ...headers, etag }, body: undefined };
  }
  const allHeaders = {
    ...headers,
    'content-type': media,
    etag,
    'accept-ranges': 'bytes',
    'last-modified': document.since.toUTCString(),
  };
  return whenReady(media === JSON_MEDIA ? document.json : document.protobuf(workers), (body) => ({
    status: 200,
    headers: allHeaders,
    body,
  }));
}

/** The first form that the client accepts and the server has. */
function chooseMedia(request: HttpRequest, form: SchemaForm): string | undefined {
  const offered = new Map([
    [JSON_MEDIA, JSON_MEDIA],
    [protobufMedia(form), protobufMedia(form)],
    [olderProtobufMedia(form), protobufMedia(form)],
  ]);
  for (const { type, subtype } of parseAccept(request.headers['accept'] || '*/*')) {
    for (const [name, media] of offered) {
      const [ownType, ownSubtype] = name.split('/');
      if ((type === '*' || type === ownType) && (subtype === '*' || subtype === ownSubtype)) return media;
    }
  }
  return undefined;
}

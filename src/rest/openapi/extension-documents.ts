// What extension servers add to the OpenAPI documents, and how it is put into this server's own.
import { isPlainObject } from '../../lib/values/plain-object.js';
import type { JsonSchema } from '../../schema/openapi/json-schema.js';
import { mergeSwagger, type SwaggerAdditions } from '../../schema/openapi/merge-swagger.js';
import type { Swagger } from '../../schema/openapi/swagger.js';
import { documentV2, type PartsV2, encodedMembers } from './documents.js';
import { PublishedDocument } from './published-document.js';

export interface ExtensionDocuments {
  /** Of form 2, the most important one first: another list whenever anything in it is another. */
  swaggers(): readonly Swagger[];
  /** OpenAPI 3: where the documents of others are, by name. `isOwn` says which documents this server has itself. */
  index(isOwn: (name: string) => boolean): ReadonlyMap<string, string>;
  /** Of form 3, by name: those of servers that know only form 2. */
  converted(): ReadonlyMap<string, PublishedDocument>;
}

/** This server's OpenAPI 2 document with what others add. Built on the first request after either changed. */
export class MergedDocument {
  readonly #now: () => Date;
  #from: { readonly parts: PartsV2; readonly swaggers: readonly Swagger[] } | undefined;
  #document: Promise<PublishedDocument> | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** Concurrent requests share one build. */
  of(parts: PartsV2, swaggers: readonly Swagger[]): Promise<PublishedDocument> {
    if (this.#document === undefined || this.#from?.parts !== parts || this.#from.swaggers !== swaggers) {
      this.#from = { parts, swaggers };
      this.#document = this.#merge(parts, swaggers);
    }
    return this.#document;
  }

  async #merge(parts: PartsV2, swaggers: readonly Swagger[]): Promise<PublishedDocument> {
    const additions = await mergeSwagger(
      {
        hasPath: (path) => parts.paths.has(path),
        definition: (name) => readMember(parts.definitions, name),
        parameter: (name) => readMember(parts.parameters, name),
      },
      swaggers,
    );
    const merged = withAdditions(parts, additions);
    return new PublishedDocument(() => documentV2(merged), 'v2', this.#now());
  }
}

function withAdditions(parts: PartsV2, { paths, definitions, parameters }: SwaggerAdditions): PartsV2 {
  const together = (own: ReadonlyMap<string, string>, added: ReadonlyMap<string, JsonSchema>): Map<string, string> =>
    new Map([...own, ...encodedMembers(added)].sort(([a], [b]) => (a < b ? -1 : 1)));
  return {
    version: parts.version,
    paths: together(parts.paths, paths),
    definitions: together(parts.definitions, definitions),
    parameters: together(parts.parameters, parameters),
  };
}

function readMember(members: ReadonlyMap<string, string>, name: string): JsonSchema | undefined {
  const text = members.get(name);
  const value: unknown = text === undefined ? undefined : Object.values(JSON.parse(`{${text}}`) as object)[0];
  return isPlainObject(value) ? value : undefined;
}

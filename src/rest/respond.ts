// Turns objects and refusals into answers, in the form that was asked for.
import type { AnsweredForm, AnsweredObject, HttpRequest, HttpResponse } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { inTurns } from '../lib/turns.js';
import type { Status, StatusError } from '../machinery/status.js';
import { typeByName } from '../schema/catalogue.js';
import { encodeJson } from '../schema/json/encode.js';
import type { StructType } from '../schema/type.js';
import { loaded, type StoredObject } from '../storage/store.js';
import { compressed } from './compress.js';
import { type Converter, CONVERTED_BYTES } from './convert-bytes.js';
import { type Endpoint, inVersion, tailOf } from './endpoint.js';
import { indentJson } from './indent-json.js';
import { largeBody } from './large-body.js';
import { JSON_TYPE, type MediaType } from './media-types.js';
import { acceptsUntransformed, negotiate, type Negotiated, notAcceptableTransform } from './negotiate.js';
import { partialMetadata } from './partial-metadata.js';
import { tableOf, tableOptions } from './table.js';
import { encodeObject, yamlBytes } from './wire.js';

const NEWLINE = Buffer.from('\n');

export interface Rendering {
  readonly endpoint: Endpoint;
  readonly request: HttpRequest;
  readonly negotiated: Negotiated;
  readonly converter: Converter;
  /** Asked only where ages are told. */
  readonly clock: () => Date;
}

// hot: the answer to a GET is the stored bytes.
/** An object of the endpoint's kind. */
export function respondObject(rendering: Rendering, status: number, stored: StoredObject): MaybePromise<HttpResponse> {
  const { endpoint, negotiated, request } = rendering;
  const { media, pretty, transform } = negotiated;
  if (transform === undefined && media.encoding === 'json' && !pretty && endpoint.storedShape) {
    const bytes = Buffer.concat([endpoint.head, tailOf(endpoint, stored), NEWLINE]);
    return answer(request, status, media, bytes, PLAIN_OBJECT);
  }
  if (stored.size > CONVERTED_BYTES) return respondLarge(rendering, status, stored);
  return respondForm(rendering, status, stored);
}

async function respondLarge(rendering: Rendering, status: number, stored: StoredObject): Promise<HttpResponse> {
  const { endpoint, negotiated } = rendering;
  if (negotiated.transform !== undefined || !endpoint.storedShape) {
    await loaded(stored);
    return respondForm(rendering, status, stored);
  }
  const json = Buffer.concat([endpoint.head, tailOf(endpoint, stored)]);
  return respondConverted(rendering, status, endpoint.type, json);
}

function respondForm(rendering: Rendering, status: number, stored: StoredObject): MaybePromise<HttpResponse> {
  if (rendering.negotiated.transform !== undefined) return respondTransformed(rendering, status, stored);
  const { endpoint } = rendering;
  return respondInTurns(rendering, status, endpoint.type, inVersion(endpoint, stored.object()));
}

/** What is there as JSON, in the form that was asked for: it is made elsewhere. */
export async function respondConverted(
  { request, negotiated, converter }: Pick<Rendering, 'request' | 'negotiated' | 'converter'>,
  status: number,
  type: StructType,
  json: Buffer,
): Promise<HttpResponse> {
  const bytes = await convertedObject(converter, negotiated, type, json);
  const headers = { 'content-type': negotiated.media.name };
  const object: AnsweredObject = { form: formOf(type), json: () => json };
  return compressed(request, { status, headers, body: largeBody([bytes], bytes.length), object }, bytes.length);
}

export async function convertedObject(
  converter: Converter,
  { media: { encoding }, pretty }: Negotiated,
  type: StructType,
  json: Buffer,
): Promise<Buffer> {
  const name = type.unstructured === undefined ? type.name : undefined;
  const converted = await converter.convert({ what: 'print', encoding, pretty, type: name, bytes: json });
  if (!('printed' in converted)) throw new Error('what was to be printed was read');
  const { buffer, byteOffset, byteLength } = converted.printed;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The same as respondValue() for what may be large: the form that takes longest is written in turns with others. */
export function respondInTurns(
  rendering: Pick<Rendering, 'request' | 'negotiated'>,
  status: number,
  type: StructType,
  value: object,
): MaybePromise<HttpResponse> {
  if (rendering.negotiated.media.encoding !== 'yaml') return respondValue(rendering, status, type, value);
  return respondYaml(rendering, status, type, value);
}

async function respondYaml(
  { request, negotiated }: Pick<Rendering, 'request' | 'negotiated'>,
  status: number,
  type: StructType,
  value: object,
): Promise<HttpResponse> {
  const bytes = await inTurns(yamlBytes(type, value));
  return answer(request, status, negotiated.media, bytes, { form: formOf(type), json: () => encodeJson(type, value) });
}

/** Any value of a known type. */
export function respondValue(
  { request, negotiated }: Pick<Rendering, 'request' | 'negotiated'>,
  status: number,
  type: StructType,
  value: object,
): HttpResponse {
  const { bytes, object } = renderedValue(negotiated, type, value);
  return answer(request, status, negotiated.media, bytes, object);
}

/** The bytes of a value, and what is recorded of it. `json`: what it is in JSON, where that is known already. */
export function renderedValue(
  { media, pretty }: Negotiated,
  type: StructType,
  value: object,
  json?: string,
): { readonly bytes: Buffer; readonly object: AnsweredObject } {
  const form = formOf(type);
  const bytes = media.encoding === 'json' && json !== undefined ? Buffer.from(json) : encodeObject(media, type, value);
  if (media.encoding !== 'json') return { bytes, object: { form, json: () => json ?? encodeJson(type, value) } };
  if (pretty) return { bytes: Buffer.from(indentJson(bytes.toString())), object: { form, json: () => bytes } };
  return { bytes: Buffer.concat([bytes, NEWLINE]), object: { form } };
}

const PLAIN_OBJECT: AnsweredObject = { form: 'object' };

export function formOf({ name, byJson }: StructType): AnsweredForm {
  if (name.endsWith('.meta.v1.Status')) return 'status';
  if (name.endsWith('.Table')) return 'table';
  return name.endsWith('List') && byJson.has('items') ? 'list' : 'object';
}

function respondTransformed(rendering: Rendering, status: number, stored: StoredObject): MaybePromise<HttpResponse> {
  const { endpoint, request, negotiated, clock } = rendering;
  const { transform } = negotiated;
  switch (transform?.kind) {
    case undefined:
      throw new Error('nothing to transform to');
    case 'Table': {
      const options = tableOptions(request.query);
      const table = tableOf(
        endpoint,
        [stored],
        { version: transform.version, now: clock(), ...options },
        listMetaOf(stored),
      );
      return respondValue(rendering, status, metaType(transform.version, 'Table'), table);
    }
    case 'PartialObjectMetadata': {
      const value = partialMetadata(inVersion(endpoint, stored.object()), transform.version);
      return respondValue(rendering, status, metaType(transform.version, 'PartialObjectMetadata'), value);
    }
    case 'PartialObjectMetadataList':
      throw notAcceptableTransform(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goName(endpoint)})`,
      );
  }
}

/** How the reference names the type in its own words. */
export function goName({ kind, definition }: Endpoint, suffix = ''): string {
  if (definition.custom) return `*unstructured.Unstructured${suffix}`;
  const group = kind.group === '' ? 'core' : (kind.group.split('.')[0] ?? '');
  return `*${group}.${kind.kind}${suffix}`;
}

const listMetaOf = (stored: StoredObject): { resourceVersion: string } | Record<string, never> =>
  stored.revision === 0 ? {} : { resourceVersion: String(stored.revision) };

export function metaType(version: 'v1' | 'v1beta1', kind: string): StructType {
  const type =
    typeByName(`io.k8s.apimachinery.pkg.apis.meta.${version}.${kind}`) ??
    typeByName(`io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);
  if (type === undefined) throw new Error(`the catalogue has no ${kind} in meta/${version}`);
  return type;
}

/** A refusal, or the note that a deletion succeeded. */
export function respondStatus(
  request: HttpRequest,
  status: Status,
  code: number,
  mediaTypes: readonly MediaType[],
): HttpResponse {
  const negotiated = statusForm(request, mediaTypes);
  const response = respondValue(
    { request, negotiated: negotiated ?? PLAIN_JSON },
    code,
    metaType('v1', 'Status'),
    status,
  );
  return negotiated === undefined ? { ...response, object: undefined } : response;
}

/** As respondError(), for one that is long and was printed elsewhere. */
export async function respondPrinted(
  { request, converter }: Pick<Rendering, 'request' | 'converter'>,
  error: StatusError,
  json: Buffer,
  mediaTypes: readonly MediaType[],
): Promise<HttpResponse> {
  const negotiated = statusForm(request, mediaTypes);
  const { media, pretty } = negotiated ?? PLAIN_JSON;
  const type = metaType('v1', 'Status');
  if (media.encoding !== 'json' || pretty) {
    return respondConverted({ request, negotiated: { media, pretty }, converter }, error.code, type, json);
  }
  const body = largeBody([json, NEWLINE], json.length + NEWLINE.length);
  const headers = { 'content-type': media.name };
  const object: AnsweredObject | undefined = negotiated && { form: 'status', json: () => json };
  return compressed(request, { status: error.code, headers, body, object }, json.length);
}

export function respondError(request: HttpRequest, error: StatusError, mediaTypes: readonly MediaType[]): HttpResponse {
  const response = respondStatus(request, error.status, error.code, mediaTypes);
  const retryAfterSeconds = error.details?.retryAfterSeconds ?? 0;
  if (retryAfterSeconds === 0) return response;
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfterSeconds) } };
}

/** A client that accepts nothing we have is still told why, as JSON; the reference does not record that as an object. */
const PLAIN_JSON: Negotiated = { media: JSON_TYPE, pretty: false };

function statusForm(request: HttpRequest, mediaTypes: readonly MediaType[]): Negotiated | undefined {
  try {
    const { media, pretty, transform } = negotiate(request, mediaTypes);
    return transform === undefined || acceptsUntransformed(request) ? { media, pretty } : undefined;
  } catch {
    return undefined;
  }
}

export function answer(
  request: HttpRequest,
  status: number,
  media: MediaType,
  body: Buffer,
  object: AnsweredObject,
): HttpResponse {
  const plain: HttpResponse = { status, headers: { 'content-type': media.name }, body, object };
  return compressed(request, plain, body.length);
}

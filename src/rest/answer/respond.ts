// Turns objects and refusals into answers, in the form that the client requested.
import { offload, type WorkerPool } from '../../lib/async/worker-pool.js';
import { type AnsweredObject, bodyBytes, type HttpRequest, type HttpResponse } from '../../lib/http/http.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import type { SizedWork } from '../../lib/scheduling/sized-work.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { isForWorkers, workersFor } from '../../registry/registry.js';
import type { Status, StatusError } from '../../machinery/status.js';
import { decodeJson } from '../../schema/json/decode.js';
import { encodeJson } from '../../schema/json/encode.js';
import { encodePieces } from '../../schema/json/encode-pieces.js';
import type { StructType } from '../../schema/type.js';
import { loaded, type StoredObject } from '../../storage/store.js';
import { compressed } from '../wire/compress.js';
import type { Converter } from '../wire/convert-bytes.js';
import { type Endpoint, tailOf } from '../contract/endpoint.js';
import { type Form, requestedForm, type FormedValue, formedValue, formOf, metaType, notAList } from './formed-value.js';
import { indentJson } from '../wire/indent-json.js';
import { largeBody } from './large-body.js';
import { JSON_TYPE, type MediaType } from '../wire/media-types.js';
import { acceptsUntransformed, negotiate, type Negotiated, type NegotiatedPath } from '../wire/negotiate.js';
import { protobufForm } from './protobuf-form.js';
import { renderOnWorker } from './render.worker.js';
import { renderedValue } from './rendered-value.js';
import { yamlBytes } from '../wire/codec.js';

const NEWLINE = Buffer.from('\n');

export interface Rendering {
  readonly endpoint: Endpoint;
  readonly request: HttpRequest;
  readonly negotiated: Negotiated;
  readonly converter: Converter;
  /** Called only where ages are shown. */
  readonly clock: () => Date;
}

// hot: the answer to a GET is the stored bytes.
/** An object of the endpoint's kind. */
export function respondObject(rendering: Rendering, status: number, stored: StoredObject): MaybePromise<HttpResponse> {
  const { endpoint, negotiated, request } = rendering;
  const { media, pretty, transform } = negotiated;
  if (transform === undefined && media.encoding === 'json' && !pretty && endpoint.storedShape) {
    const body = [endpoint.head, tailOf(endpoint, stored), NEWLINE];
    return answer(request, { status, media, body, object: PLAIN_OBJECT });
  }
  if (isForWorkers(endpoint.registry, stored.size)) return respondLarge(rendering, status, stored);
  return respondForm(rendering, status, stored);
}

async function respondLarge(rendering: Rendering, status: number, stored: StoredObject): Promise<HttpResponse> {
  const { endpoint, negotiated } = rendering;
  if (negotiated.transform !== undefined || !endpoint.storedShape) {
    const inline = async (): Promise<HttpResponse> => {
      await loaded(stored);
      return respondForm(rendering, status, stored);
    };
    return offload(
      workersFor(endpoint.registry, stored.size),
      (workers) => respondOnWorker(workers, rendering, status, stored),
      inline,
    );
  }
  const json = Buffer.concat([endpoint.head, tailOf(endpoint, stored)]);
  return respondConverted(rendering, status, endpoint.type, json);
}

async function respondOnWorker(
  workers: WorkerPool,
  rendering: Rendering,
  status: number,
  stored: StoredObject,
): Promise<HttpResponse> {
  const { endpoint, negotiated, request } = rendering;
  const made = await renderOnWorker(workers, { endpoint, form: formFor(rendering), stored }, negotiated);
  const bytes = bufferOf(made.bytes);
  const { form, json } = made;
  const object: AnsweredObject = { form, ...(json !== undefined && { json: () => bufferOf(json) }) };
  const headers = { 'content-type': negotiated.media.name };
  return compressed(request, { status, headers, body: largeBody([bytes], bytes.length), object }, bytes.length);
}

/** Refuses forms that the endpoint does not have. */
function formFor(rendering: Rendering): Form {
  const { endpoint, negotiated, request, clock } = rendering;
  if (negotiated.transform?.kind === 'PartialObjectMetadataList') throw notAList(endpoint);
  return requestedForm(negotiated, request.query, clock);
}

function respondForm(rendering: Rendering, status: number, stored: StoredObject): MaybePromise<HttpResponse> {
  const { endpoint, negotiated, request } = rendering;
  const { transform, media } = negotiated;
  const protobuf = protobufForm(endpoint, negotiated);
  if (protobuf !== undefined) {
    return answer(request, { status, media, body: protobuf.object(stored), object: protobuf.recorded(stored) });
  }
  if (transform !== undefined) {
    const { type, value } = formedValue(endpoint, formFor(rendering), stored);
    return respondValue(rendering, status, type, value);
  }
  const isText = media.encoding === 'json' || media.encoding === 'yaml';
  const { type, value } =
    isText && endpoint.storedShape && endpoint.type.unstructured === undefined
      ? keptValue(endpoint, stored)
      : formedValue(endpoint, formFor(rendering), stored);
  return respondCooperatively(rendering, status, type, value);
}

/** The object as it is kept: a fresh write may still distinguish what is empty from what is absent. */
function keptValue(endpoint: Endpoint, stored: StoredObject): FormedValue {
  const { type } = endpoint;
  const json = Buffer.concat([endpoint.head, tailOf(endpoint, stored)]);
  return { type, value: decodeJson(type, json, { strict: false }).object };
}

/** Answers JSON in the requested form, converted on a worker. */
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
  const converted = await converter.convert({ what: 'encode', encoding, pretty, type: name, bytes: json });
  if (!('encoded' in converted)) throw new Error('a worker decoded what it was to encode');
  return bufferOf(converted.encoded);
}

/** As respondValue() for a value that may be large: the slowest encoding, YAML, is written cooperatively. */
export function respondCooperatively(
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
  const bytes = await runCooperatively(yamlBytes(type, value));
  const object = { form: formOf(type), json: () => encodeJson(type, value) };
  return answer(request, { status, media: negotiated.media, body: bytes, object });
}

/** Any value of a known type. */
export function respondValue(
  { request, negotiated }: Pick<Rendering, 'request' | 'negotiated'>,
  status: number,
  type: StructType,
  value: object,
): HttpResponse {
  const { bytes, object } = renderedValue(negotiated, type, value);
  return answer(request, { status, media: negotiated.media, body: bytes, object });
}

/** As respondValue(); of a large value JSON is encoded cooperatively, and other forms on a worker. */
export const respondSized = (
  { work, ...rendering }: ValueRendering & { readonly work: SizedWork },
  status: number,
  type: StructType,
  value: object,
): MaybePromise<HttpResponse> => (work.isLarge ? respondLargeValue : respondValue)(rendering, status, type, value);

type ValueRendering = Pick<Rendering, 'request' | 'negotiated' | 'converter'>;

async function respondLargeValue(
  { request, negotiated, converter }: ValueRendering,
  status: number,
  type: StructType,
  value: object,
): Promise<HttpResponse> {
  const json = await runCooperatively(encodePieces(type, value, 'sent'));
  const { media, pretty } = negotiated;
  if (media.encoding !== 'json' || pretty) {
    return respondConverted({ request, negotiated, converter }, status, type, json);
  }
  return encodedJson(request, status, json, { form: formOf(type), json: () => json });
}

function encodedJson(
  request: HttpRequest,
  status: number,
  json: Buffer,
  object: AnsweredObject | undefined,
): Promise<HttpResponse> | HttpResponse {
  const body = largeBody([json, NEWLINE], json.length + NEWLINE.length);
  const headers = { 'content-type': JSON_TYPE.name };
  return compressed(request, { status, headers, body, object }, json.length);
}

const PLAIN_OBJECT: AnsweredObject = { form: 'object' };

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

/** As respondError(), for a long status that a worker encoded. */
export async function respondEncoded(
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
  return encodedJson(request, error.code, json, negotiated && { form: 'status', json: () => json });
}

export function respondError(request: HttpRequest, error: StatusError, mediaTypes: readonly MediaType[]): HttpResponse {
  const response =
    statusForm(request, mediaTypes) === undefined
      ? rawStatus(error)
      : respondStatus(request, error.status, error.code, mediaTypes);
  const retryAfterSeconds = error.details?.retryAfterSeconds ?? 0;
  if (retryAfterSeconds === 0) return response;
  return { ...response, headers: { ...response.headers, 'retry-after': String(retryAfterSeconds) } };
}

/** A client that accepts no form of this server still gets the reason, as indented JSON, which is not recorded. */
function rawStatus({ code, status }: StatusError): HttpResponse {
  const json = encodeJson(metaType('v1', 'Status'), status);
  return { status: code, headers: { 'content-type': JSON_TYPE.name }, body: Buffer.from(indentJson(json)) };
}

/** A client that accepts no form gets the Status of a deletion on one line. */
const PLAIN_JSON: Negotiated = { media: JSON_TYPE, pretty: false };

/** The router refuses wildcards that are good enough for the words it does so in. */
const STATUSES: NegotiatedPath = { routed: false };

function statusForm(request: HttpRequest, mediaTypes: readonly MediaType[]): Negotiated | undefined {
  try {
    const { media, pretty, transform } = negotiate(request, mediaTypes, STATUSES);
    return transform === undefined || acceptsUntransformed(request) ? { media, pretty } : undefined;
  } catch {
    return undefined;
  }
}

interface Answered {
  readonly status: number;
  readonly media: MediaType;
  readonly body: Buffer | readonly Buffer[];
  readonly object: AnsweredObject;
}

export function answer(request: HttpRequest, { status, media, body, object }: Answered): HttpResponse {
  const plain: HttpResponse = { status, headers: { 'content-type': media.name }, body, object };
  return compressed(request, plain, bodyBytes(body));
}

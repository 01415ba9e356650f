import { offload, WORKER_MIN_BYTES } from '../../lib/async/worker-pool.js';
import type { AnsweredObject, HttpResponse } from '../../lib/http/http.js';
import { joinSteps } from '../../lib/scheduling/join-steps.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { runCooperatively, Yielder } from '../../lib/scheduling/yield.js';
import { badRequest } from '../../machinery/status.js';
import { apiVersionOf } from '../../machinery/object.js';
import { list } from '../../registry/list.js';
import { workersFor } from '../../registry/registry.js';
import { encodeTree } from '../../schema/json/encode.js';
import { protobufListParts } from '../../schema/protobuf/envelope.js';
import { type ListResult, loaded, type StoredObject } from '../../storage/store.js';
import { compressed } from '../wire/compress.js';
import { type Endpoint, tailOf } from '../contract/endpoint.js';
import { resourceVersionError } from './get.js';
import { indenter } from '../wire/indent-json.js';
import { largeBody, MAX_AT_ONCE_BYTES } from '../answer/large-body.js';
import { bodyInPieces, JoinedLists, type ListItems, PIECE_BYTES } from '../answer/list-body.js';
import { type ListMeta, listParts } from '../answer/list-parts.js';
import { type ElementEncoding, encodeLongList } from '../answer/long-list.js';
import { negotiate, notAcceptableTransform, OF_LISTS } from '../wire/negotiate.js';
import type { ListOptions } from '../contract/query-options.js';
import type { RestRequest } from '../contract/request.js';
import { type Form, requestedForm, formOf, goName } from '../answer/formed-value.js';
import { elementOnWorker } from '../answer/render.worker.js';
import { type Rendering, respondConverted, respondCooperatively } from '../answer/respond.js';
import { protobufForm } from '../answer/protobuf-form.js';
import { joinedItems, type ProtobufItems, protobufItems } from '../answer/protobuf-items.js';
import { selectionOf } from '../contract/selection.js';
import type { RestServices } from '../contract/services.js';
import { inRowOrder } from '../answer/table.js';
import { timedAnswer, timedRead } from '../answer/timed.js';

export async function listObjects(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  options: ListOptions,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, OF_LISTS);
  const selection = selectionOf(endpoint, options, info.name);
  const { resourceVersion, resourceVersionMatch, limit } = options;
  // A further page may not name one at all, which is reported after errors of the page itself.
  const wrong = options.continue === '' ? resourceVersionError(resourceVersion) : undefined;
  if (wrong !== undefined) throw badRequest(`invalid resource version: ${wrong}`);
  const span = request.trace?.span;
  if (span !== undefined) request.listing = {};
  span?.event('About to List from storage');
  const wanted = {
    trace: request.trace,
    namespace: info.namespace,
    resourceVersion,
    resourceVersionMatch,
    limit,
    continue: options.continue,
    ...selection,
    selector: `${options.labelSelector}\0${options.fieldSelector}`,
  };
  const result = await timedRead(request, () => list(endpoint.registry, wanted));
  if (span !== undefined) request.listing = { count: result.items.length };
  span?.event('Listing from storage done');
  const rendering = { endpoint, request: http, negotiated, clock: services.clock, converter: services.converter };
  return timedAnswer(request, negotiated, () => respondList(rendering, result));
}

/** A list in the requested form. */
export function respondList(rendering: Rendering, result: ListResult): MaybePromise<HttpResponse> {
  const { endpoint, negotiated } = rendering;
  const { media, pretty, transform } = negotiated;
  const metadata = listMeta(result);
  if (transform === undefined && media.encoding === 'json' && endpoint.storedShape) {
    if (!pretty || isLongOfSmall(result.items)) return respondBytes(rendering, result, metadata);
  }
  if (transform?.kind === 'PartialObjectMetadata') {
    throw notAcceptableTransform(
      `you requested PartialObjectMetadata, but the requested object is a list (${goName(endpoint, 'List')})`,
    );
  }
  const protobuf = protobufForm(endpoint, negotiated, 'PartialObjectMetadataList');
  if (protobuf !== undefined) {
    const known = joinedItems(protobuf, result.items);
    if (known !== undefined) return respondElements(rendering, known, result.items, metadata);
    if (result.items.every(({ size }) => size <= WORKER_MIN_BYTES)) {
      const encoding = protobufItems(protobuf, result.items);
      return encoding.then((elements) => respondElements(rendering, elements, result.items, metadata));
    }
  }
  if (isLong(result.items)) return respondLong(rendering, result, metadata);
  const { type, envelope, member, element, nothing = [] } = listParts(endpoint, formFor(rendering), metadata);
  const elements = orderOf(rendering, result.items).map(element);
  return respondCooperatively(rendering, 200, type, {
    ...envelope,
    [member]: elements.length > 0 ? elements : nothing,
  });
}

const formFor = ({ negotiated, request, clock }: Rendering): Form => requestedForm(negotiated, request.query, clock);

const orderOf = ({ endpoint, negotiated }: Rendering, items: readonly StoredObject[]): readonly StoredObject[] =>
  negotiated.transform?.kind === 'Table' ? inRowOrder(endpoint, items) : items;

function isLong(items: readonly StoredObject[]): boolean {
  let bytes = 0;
  for (const { size } of items) {
    bytes += size;
    if (bytes > WORKER_MIN_BYTES) return true;
  }
  return false;
}

/** Indented, it can be written in pieces of bounded size. */
const isLongOfSmall = (items: readonly StoredObject[]): boolean =>
  isLong(items) && items.every(({ size }) => size <= WORKER_MIN_BYTES);

/** Cooperatively; what is slowest, on a worker. */
async function respondLong(rendering: Rendering, result: ListResult, metadata: ListMeta): Promise<HttpResponse> {
  const { endpoint, request, negotiated } = rendering;
  const { media, pretty, transform } = negotiated;
  const { encoding } = media;
  const slow = encoding === 'yaml' || pretty;
  const oneIsLarge = result.items.some(({ size }) => size > WORKER_MIN_BYTES);
  if (transform === undefined && endpoint.storedShape && (slow || oneIsLarge)) {
    const { head, tail } = envelopeOf(endpoint, metadata);
    const items = await joinedCooperatively(endpoint, result.items);
    const json = await asOne([head, ...items, withoutNewline(tail)]);
    return respondConverted(rendering, 200, endpoint.listType, json);
  }
  const form = formFor(rendering);
  const parts = listParts(endpoint, form, metadata);
  const { type } = parts;
  const items = await inOrder(rendering, result.items);
  const encodedIn = (wanted: ElementEncoding): Promise<Buffer[]> => {
    const element = (index: number): MaybePromise<object | Buffer> => {
      const item = items[index] as StoredObject;
      const inline = (): MaybePromise<object> => whenReady(loaded(item), () => parts.element(item));
      return offload<object | Buffer>(
        workersFor(endpoint.registry, item.size),
        (workers) => elementOnWorker(workers, { endpoint, form, stored: item }, wanted),
        inline,
      );
    };
    return encodeLongList({ ...parts, count: items.length, element }, wanted);
  };
  const encoded = await encodedIn(encoding === 'yaml' ? 'json' : encoding);
  if (slow) return respondConverted(rendering, 200, type, withoutNewline(await asOne(encoded)));
  const bytes = encoded.reduce((sum, { length }) => sum + length, 0);
  const json = async (): Promise<Buffer> => asOne(encoding === 'json' ? encoded : await encodedIn('json'));
  const headers = { 'content-type': media.name };
  const object: AnsweredObject = { form: formOf(type), json };
  return compressed(request, { status: 200, headers, body: largeBody(encoded, bytes), object }, bytes);
}

/** A list in protobuf, joined from the bytes of its items. */
function respondElements(
  rendering: Rendering,
  elements: ProtobufItems,
  items: readonly StoredObject[],
  metadata: ListMeta,
): MaybePromise<HttpResponse> {
  const { endpoint, request, negotiated } = rendering;
  const { type, envelope, member, element } = listParts(endpoint, formFor(rendering), metadata);
  const json = async (): Promise<Buffer> =>
    asOne(
      await encodeLongList(
        { type, envelope, member, count: items.length, element: (at) => element(items[at] as StoredObject) },
        'json',
      ),
    );
  const around = protobufListParts(type, { ...envelope, [member]: [] }, elements.bytes);
  const bytes = around.head.length + elements.bytes + around.tail.length;
  const headers = { 'content-type': negotiated.media.name };
  const object: AnsweredObject = { form: formOf(type), json };
  return compressed(request, { status: 200, headers, body: elements.body(around), object }, bytes);
}

const asOne = (pieces: readonly Buffer[]): Promise<Buffer> => runCooperatively(joinSteps(pieces));

const withoutNewline = (json: Buffer): Buffer => json.subarray(0, -1);

/** Rows that have an order are compared as objects: all are parsed for it, and held until they are in order. */
async function inOrder(rendering: Rendering, items: readonly StoredObject[]): Promise<readonly StoredObject[]> {
  const { definition } = rendering.endpoint;
  if (rendering.negotiated.transform?.kind !== 'Table' || definition.table.compareRows === undefined) return items;
  const held: object[] = [];
  const yielder = new Yielder();
  for (const item of items) {
    held.push(await loaded(item));
    await yielder.yieldIfDue();
  }
  const ordered = orderOf(rendering, items);
  held.length = 0;
  return ordered;
}

function listMeta(result: ListResult): ListMeta {
  return {
    ...(result.revision !== 0 && { resourceVersion: String(result.revision) }),
    ...(result.continue !== '' && { continue: result.continue }),
    ...(result.remainingItemCount !== undefined && { remainingItemCount: result.remainingItemCount }),
  };
}

// hot: a list is written from the bytes that are there, piece by piece.
function respondBytes(
  { endpoint, request, negotiated }: Rendering,
  { items, isRepeated = false }: ListResult,
  metadata: ListMeta,
): HttpResponse {
  const { head, tail } = envelopeOf(endpoint, metadata);
  const perItem = endpoint.itemHead.length - endpoint.storageHeadLength;
  let bytes = head.length + tail.length + Math.max(0, items.length - 1);
  for (const item of items) bytes += perItem + item.size;
  const headers = { 'content-type': 'application/json' };
  const itemBytes = bytes - head.length - tail.length;
  const { pretty } = negotiated;
  if (bytes <= MAX_AT_ONCE_BYTES && !pretty) {
    const known = sharedItems(endpoint, items, itemBytes);
    if (known !== undefined) {
      const body = [head, known, tail];
      return compressed(request, { status: 200, headers, body, object: PLAIN_LIST }, bytes);
    }
  }
  const whole = async (): Promise<Buffer> =>
    Buffer.concat([head, ...(await joinedCooperatively(endpoint, items)), tail]);
  const object: AnsweredObject = { form: 'list', json: whole };
  const writer = new JsonItems(endpoint, items, isRepeated && bytes <= MAX_AT_ONCE_BYTES);
  const around = pretty ? { head, tail: withoutNewline(tail), encode: prettyEncoder() } : { head, tail };
  return compressed(request, { status: 200, headers, body: bodyInPieces(writer, around), object }, bytes);
}

function prettyEncoder(): (piece: Buffer) => Buffer {
  const next = indenter();
  return (piece) => Buffer.from(next(piece.toString()));
}

const PLAIN_LIST: AnsweredObject = { form: 'list' };

/** What stands around the items. Lists of custom resources encode their members sorted by name, too. */
function envelopeOf({ kind, definition }: Endpoint, metadata: ListMeta): { head: Buffer; tail: Buffer } {
  const listKind = JSON.stringify(definition.listKind ?? `${kind.kind}List`);
  const apiVersion = JSON.stringify(apiVersionOf(kind));
  if (definition.custom) {
    const shown = encodeTree({ continue: '', ...metadata });
    return {
      head: Buffer.from(`{"apiVersion":${apiVersion},"items":[`),
      tail: Buffer.from(`],"kind":${listKind},"metadata":${shown}}\n`),
    };
  }
  return {
    head: Buffer.from(
      `{"kind":${listKind},"apiVersion":${apiVersion},"metadata":${JSON.stringify(metadata)},"items":[`,
    ),
    tail: Buffer.from(']}\n'),
  };
}

const COMMA = 0x2c;

const joinedLists = new JoinedLists<Buffer>();

function sharedItems(endpoint: Endpoint, items: readonly StoredObject[], bytes: number): Buffer | undefined {
  const known = joinedLists.get(items, endpoint);
  if (known !== undefined || !joinedLists.isWorthJoining(items, endpoint, bytes)) return known;
  return joinedLists.keep(items, endpoint, joined(endpoint, items, bytes));
}

function joined(endpoint: Endpoint, items: readonly StoredObject[], bytes: number): Buffer {
  const all = Buffer.allocUnsafe(bytes);
  const writer = new JsonItems(endpoint, items);
  let at = 0;
  for (let i = 0; i < items.length; i++) at = writer.put(i, all, at);
  return all;
}

async function joinedCooperatively(endpoint: Endpoint, items: readonly StoredObject[]): Promise<Buffer[]> {
  const yielder = new Yielder();
  const writer = new JsonItems(endpoint, items);
  const whole: Buffer[] = [];
  for (let from = 0; from < items.length;) {
    let to = from;
    let bytes = 0;
    for (; to < items.length && bytes < PIECE_BYTES; to++) bytes += writer.bytesOf(to);
    const piece = Buffer.allocUnsafe(bytes);
    let at = 0;
    for (; from < to; from++) at = writer.put(from, piece, at);
    whole.push(piece.subarray(0, at));
    await yielder.yieldIfDue();
  }
  return whole;
}

class JsonItems implements ListItems {
  constructor(
    private readonly endpoint: Endpoint,
    private readonly items: readonly StoredObject[],
    /** Their bytes will probably be wanted again. */
    private readonly isKept = false,
  ) {}

  get count(): number {
    return this.items.length;
  }

  bytesOf(index: number): number {
    return 1 + this.endpoint.itemHead.length + (this.items[index] as StoredObject).size;
  }

  /** All but the first have a comma in front. */
  // hot: every item of a list
  put(index: number, out: Buffer, start: number): number {
    const { endpoint } = this;
    const item = this.items[index] as StoredObject;
    let at = start;
    if (index > 0) out[at++] = COMMA;
    at += endpoint.itemHead.copy(out, at);
    const from = endpoint.storageHeadLength;
    const copied = item.copyJson?.(out, at, from, this.isKept) ?? tailOf(endpoint, item).copy(out, at);
    return at + copied;
  }
}

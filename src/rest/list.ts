import type { AnsweredObject, HttpResponse, ResponseBody } from '../lib/http.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { badRequest } from '../machinery/status.js';
import { apiVersionOf } from '../machinery/object.js';
import { list } from '../registry/list.js';
import { encodeTree } from '../schema/json/encode.js';
import type { ListResult, StoredObject } from '../storage/store.js';
import { compressed } from './compress.js';
import { type Endpoint, inVersion, tailOf } from './endpoint.js';
import { resourceVersionError } from './get.js';
import { negotiate, notAcceptableTransform } from './negotiate.js';
import { partialMetadata } from './partial-metadata.js';
import type { ListOptions } from './query-options.js';
import type { RestRequest } from './request.js';
import { goName, metaType, type Rendering, respondInTurns, respondValue } from './respond.js';
import { selectionOf } from './selection.js';
import type { RestServices } from './services.js';
import { tableOf, tableOptions } from './table.js';

/** A list up to this size is joined once and sent to all who ask for it, until it changes. */
const MOST_SHARED_BYTES = 4 * 1024 * 1024;
/** A larger one is copied as its client reads it. Pieces of this size keep the socket busy without holding the whole answer. */
const PIECE_BYTES = 256 * 1024;

export async function listObjects(
  services: RestServices,
  endpoint: Endpoint,
  request: RestRequest,
  options: ListOptions,
): Promise<HttpResponse> {
  const { http, info } = request;
  const negotiated = negotiate(http, services.mediaTypes, { streams: true });
  const selection = selectionOf(endpoint, options, info.name);
  const { resourceVersion, resourceVersionMatch, limit } = options;
  if (options.continue !== '' && resourceVersion !== '' && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  const wrong = resourceVersionError(resourceVersion);
  if (wrong !== undefined) throw badRequest(`invalid resource version: ${wrong}`);
  const span = request.trace?.span;
  span?.event('About to List from storage');
  const result = await list(endpoint.registry, {
    trace: request.trace,
    namespace: info.namespace,
    resourceVersion,
    resourceVersionMatch,
    limit,
    continue: options.continue,
    ...selection,
  });
  span?.event('Listing from storage done');
  return respondList({ endpoint, request: http, negotiated, clock: services.clock }, result);
}

/** A list in the form that was asked for. */
export function respondList(rendering: Rendering, result: ListResult): MaybePromise<HttpResponse> {
  const { endpoint, request, negotiated, clock } = rendering;
  const { media, pretty, transform } = negotiated;
  const metadata = listMeta(result);
  switch (transform?.kind) {
    case undefined:
      break;
    case 'Table': {
      const form = { version: transform.version, now: clock(), ...tableOptions(request.query) };
      const table = tableOf(endpoint, result.items, form, metadata);
      return respondValue(rendering, 200, metaType(transform.version, 'Table'), table);
    }
    case 'PartialObjectMetadataList': {
      const kind = 'PartialObjectMetadataList';
      const items = result.items.map((item) => partialMetadata(item.object(), transform.version));
      const value = { kind, apiVersion: `meta.k8s.io/${transform.version}`, metadata, items };
      return respondValue(rendering, 200, metaType(transform.version, kind), value);
    }
    case 'PartialObjectMetadata':
      throw notAcceptableTransform(
        `you requested PartialObjectMetadata, but the requested object is a list (${goName(endpoint, 'List')})`,
      );
  }
  if (media.encoding === 'json' && !pretty && endpoint.storedShape) return respondBytes(rendering, result, metadata);
  const { definition } = endpoint;
  const items = result.items.map((item) => inVersion(endpoint, item.object()));
  const value = {
    kind: definition.listKind ?? `${endpoint.kind.kind}List`,
    apiVersion: apiVersionOf(endpoint.kind),
    metadata: definition.custom ? { continue: '', ...metadata } : metadata,
    items: definition.custom ? items : items.map(withoutKind),
  };
  return respondInTurns(rendering, 200, endpoint.listType, value);
}

interface ListMeta {
  readonly resourceVersion?: string;
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

function listMeta(result: ListResult): ListMeta {
  return {
    ...(result.revision !== 0 && { resourceVersion: String(result.revision) }),
    ...(result.continue !== '' && { continue: result.continue }),
    ...(result.remainingItemCount !== undefined && { remainingItemCount: result.remainingItemCount }),
  };
}

/** The items of a list carry no kind of their own. */
function withoutKind(object: object): object {
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object as { kind?: string; apiVersion?: string };
  return rest;
}

// hot: a list is written from the bytes that are there, piece by piece.
function respondBytes({ endpoint, request }: Rendering, { items }: ListResult, metadata: ListMeta): HttpResponse {
  const { head, tail } = envelopeOf(endpoint, metadata);
  const perItem = endpoint.itemHead.length - endpoint.storageHeadLength;
  let bytes = head.length + tail.length + Math.max(0, items.length - 1);
  for (const item of items) bytes += perItem + item.size;
  const headers = { 'content-type': 'application/json' };
  const itemBytes = bytes - head.length - tail.length;
  if (bytes <= MOST_SHARED_BYTES) {
    const body = [head, sharedItems(endpoint, items, itemBytes), tail];
    return compressed(request, { status: 200, headers, body, object: PLAIN_LIST }, bytes);
  }
  const whole = (): Buffer => Buffer.concat([head, joined(endpoint, items, itemBytes), tail]);
  const object: AnsweredObject = { form: 'list', json: whole };
  return compressed(request, { status: 200, headers, body: pieces(endpoint, items, head, tail), object }, bytes);
}

const PLAIN_LIST: AnsweredObject = { form: 'list' };

/** What stands around the items. Lists of custom resources print their members sorted by name, too. */
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

/** By the array of items, which the store hands out again while nothing has changed. */
const shared = new WeakMap<readonly StoredObject[], Map<Endpoint, Buffer>>();

function sharedItems(endpoint: Endpoint, items: readonly StoredObject[], bytes: number): Buffer {
  let forms = shared.get(items);
  if (forms === undefined) shared.set(items, (forms = new Map()));
  let known = forms.get(endpoint);
  if (known === undefined) forms.set(endpoint, (known = joined(endpoint, items, bytes)));
  return known;
}

function joined(endpoint: Endpoint, items: readonly StoredObject[], bytes: number): Buffer {
  const all = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (let i = 0; i < items.length; i++) at = putItem(endpoint, items[i] as StoredObject, i, all, at);
  return all;
}

function putItem(endpoint: Endpoint, item: StoredObject, index: number, out: Buffer, start: number): number {
  let at = start;
  if (index > 0) out[at++] = COMMA;
  at += endpoint.itemHead.copy(out, at);
  const copied = item.copyJson?.(out, at, endpoint.storageHeadLength) ?? tailOf(endpoint, item).copy(out, at);
  return at + copied;
}

function pieces(endpoint: Endpoint, items: readonly StoredObject[], head: Buffer, tail: Buffer): ResponseBody {
  return {
    async stream(sink) {
      let piece = Buffer.allocUnsafe(PIECE_BYTES);
      let at = head.copy(piece, 0);
      const flush = async (next: number): Promise<void> => {
        const ready = sink.write(piece.subarray(0, at));
        if (!ready) await sink.drained();
        // What was written and has drained is on its way, encrypted: the same memory takes the next piece.
        if (ready || sink.pendingBytes > 0 || next > piece.length)
          piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, next));
        at = 0;
      };
      for (let i = 0; i < items.length; i++) {
        const item = items[i] as StoredObject;
        const needed = item.size + 2;
        if (at + needed > piece.length) {
          await flush(needed);
          if (sink.signal.aborted) return;
        }
        at = putItem(endpoint, item, i, piece, at);
      }
      if (at + tail.length > piece.length) await flush(tail.length);
      at += tail.copy(piece, at);
      sink.write(piece.subarray(0, at));
    },
  };
}

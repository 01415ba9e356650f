// Watch events as bytes. An event in its plain form is made once and shared by all who watch.
import type { MaybePromise } from '../lib/maybe-promise.js';
import type { StatusError } from '../machinery/status.js';
import type { StructType } from '../schema/type.js';
import { encodeJson } from '../schema/json/encode.js';
import { loaded, type StoredObject, type WatchEvent } from '../storage/store.js';
import { apiVersionOf, type JsonObject } from '../machinery/object.js';
import { CONVERTED_BYTES } from './convert-bytes.js';
import { type Endpoint, inVersion, tailOf } from './endpoint.js';
import type { Negotiated } from './negotiate.js';
import { partialMetadata } from './partial-metadata.js';
import { metaType } from './formed-value.js';
import { convertedObject } from './respond.js';
import type { RestServices } from './services.js';
import { tableOf, tableOptions, type TableForm } from './table.js';
import { encodeObject, frameEvent } from './wire.js';

export interface EventEncoder {
  /** What happened together, as bytes to write together; later where something large takes its time. */
  events(events: readonly WatchEvent[]): MaybePromise<Buffer>;
  error(error: StatusError): Buffer;
}

export function eventEncoder(
  endpoint: Endpoint,
  negotiated: Negotiated,
  query: URLSearchParams,
  { clock, converter }: Pick<RestServices, 'clock' | 'converter'>,
): EventEncoder {
  const { media } = negotiated;
  const error = (failure: StatusError): Buffer =>
    frameEvent(media, 'ERROR', encodeObject(media, metaType('v1', 'Status'), failure.status));
  if (media.encoding === 'json' && negotiated.transform === undefined && endpoint.storedShape) {
    let encoder = plainEncoders.get(endpoint);
    if (encoder === undefined) {
      encoder = { events: (events) => sharedBatch(endpoint, events), error };
      plainEncoders.set(endpoint, encoder);
    }
    return encoder;
  }
  const render = renderer(endpoint, negotiated, query, clock);
  const event = (happened: WatchEvent): Buffer => {
    const { type, value } = render(happened);
    return frameEvent(media, happened.type, encodeObject(media, type, value));
  };
  const largeEvent = async (happened: LargeEvent): Promise<Buffer> => {
    const { object } = happened;
    if (negotiated.transform !== undefined || !endpoint.storedShape) {
      await loaded(object);
      return event(happened);
    }
    const json = Buffer.concat([endpoint.head, tailOf(endpoint, object)]);
    return frameEvent(media, happened.type, await convertedObject(converter, negotiated, endpoint.type, json));
  };
  return {
    events(events) {
      if (!events.some(isLarge)) return joined(events, event);
      return inOrder(events, (happened) => (isLarge(happened) ? largeEvent(happened) : event(happened)));
    },
    error,
  };
}

type LargeEvent = Exclude<WatchEvent, { type: 'BOOKMARK' }>;

const isLarge = (event: WatchEvent): event is LargeEvent =>
  event.type !== 'BOOKMARK' && event.object.size > CONVERTED_BYTES;

async function inOrder(
  events: readonly WatchEvent[],
  encode: (event: WatchEvent) => MaybePromise<Buffer>,
): Promise<Buffer> {
  const all: Buffer[] = [];
  for (const event of events) all.push(await encode(event));
  return Buffer.concat(all);
}

/** One for all watches that want the plain form, which are nearly all. */
const plainEncoders = new WeakMap<Endpoint, EventEncoder>();

interface Rendered {
  readonly type: StructType;
  readonly value: object;
}

function renderer(
  endpoint: Endpoint,
  { transform }: Negotiated,
  query: URLSearchParams,
  clock: () => Date,
): (event: WatchEvent) => Rendered {
  const objectOf = (event: WatchEvent): StoredObject =>
    event.type === 'BOOKMARK' ? bookmark(endpoint, event) : event.object;
  switch (transform?.kind) {
    case 'Table': {
      const options = tableOptions(query);
      let first = true;
      return (event) => {
        const stored = objectOf(event);
        const form: TableForm = { version: transform.version, now: clock(), ...options, withoutColumns: !first };
        first = false;
        const metadata = { resourceVersion: String(stored.revision) };
        return { type: metaType(transform.version, 'Table'), value: tableOf(endpoint, [stored], form, metadata) };
      };
    }
    case 'PartialObjectMetadata':
    case 'PartialObjectMetadataList':
      return (event) => ({
        type: metaType(transform.version, 'PartialObjectMetadata'),
        value: partialMetadata(objectOf(event).object(), transform.version),
      });
    case undefined:
      return (event) => ({ type: endpoint.type, value: inVersion(endpoint, objectOf(event).object()) });
  }
}

/** An object with nothing but its version: a client may go on from there. */
function bookmark(endpoint: Endpoint, event: Extract<WatchEvent, { type: 'BOOKMARK' }>): StoredObject {
  const object = {
    kind: endpoint.kind.kind,
    apiVersion: apiVersionOf(endpoint.kind),
    metadata: {
      resourceVersion: String(event.revision),
      ...(event.initialEventsEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
    },
  };
  const json = Buffer.from(encodeJson(endpoint.type, object as JsonObject));
  return {
    key: '',
    revision: event.revision,
    json,
    size: json.length,
    object: () => object,
    labels: {},
    field: () => '',
  };
}

function joined(events: readonly WatchEvent[], encode: (event: WatchEvent) => Buffer): Buffer {
  return events.length === 1 ? encode(events[0] as WatchEvent) : Buffer.concat(events.map(encode));
}

/** Watchers of the same things are handed the same array. */
const sharedBatches = new WeakMap<readonly WatchEvent[], Map<Endpoint, Buffer>>();

// hot: one look-up per watcher and batch; the bytes are joined by the first.
function sharedBatch(endpoint: Endpoint, events: readonly WatchEvent[]): Buffer {
  if (events.length === 1) return sharedJson(endpoint, events[0] as WatchEvent);
  let forms = sharedBatches.get(events);
  if (forms === undefined) sharedBatches.set(events, (forms = new Map()));
  let bytes = forms.get(endpoint);
  if (bytes === undefined) forms.set(endpoint, (bytes = joined(events, (event) => sharedJson(endpoint, event))));
  return bytes;
}

const shared = new WeakMap<WatchEvent, Map<Endpoint, Buffer>>();
const TYPE_HEADS = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
};
const EVENT_TAIL = Buffer.from('}\n');

// hot: one look-up per watcher and event; the bytes are made by the first.
function sharedJson(endpoint: Endpoint, event: WatchEvent): Buffer {
  let forms = shared.get(event);
  if (forms === undefined) shared.set(event, (forms = new Map()));
  let bytes = forms.get(endpoint);
  if (bytes === undefined) {
    const object =
      event.type === 'BOOKMARK' ? [bookmark(endpoint, event).json] : [endpoint.head, tailOf(endpoint, event.object)];
    bytes = Buffer.concat([TYPE_HEADS[event.type], ...object, EVENT_TAIL]);
    forms.set(endpoint, bytes);
  }
  return bytes;
}

// Watch events as bytes. An event in its plain form is made once and shared by all who watch.
import { asideOr } from '../lib/aside.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import type { StatusError } from '../machinery/status.js';
import { asideFor } from '../registry/registry.js';
import { encodeJson } from '../schema/json/encode.js';
import { loaded, type StoredObject, type WatchEvent } from '../storage/store.js';
import { apiVersionOf, type JsonObject } from '../machinery/object.js';
import { CONVERTED_BYTES } from './convert-bytes.js';
import { type Endpoint, tailOf } from './endpoint.js';
import type { Negotiated } from './negotiate.js';
import { type Form, formAsked, formedValue, metaType } from './formed-value.js';
import { eventAside } from './render-aside.js';
import { convertedObject } from './respond.js';
import type { RestServices } from './services.js';
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
  const nextForm = formsOfEvents(negotiated, query, clock);
  const formed = (stored: StoredObject, form: Form): Buffer => {
    const { type, value } = formedValue(endpoint, form, stored);
    return encodeObject(media, type, value);
  };
  const event = (happened: WatchEvent): Buffer => {
    const stored = happened.type === 'BOOKMARK' ? bookmark(endpoint, happened) : happened.object;
    return frameEvent(media, happened.type, formed(stored, nextForm()));
  };
  const isLarge = ({ size }: StoredObject): boolean =>
    size > CONVERTED_BYTES || asideFor(endpoint.registry, size) !== undefined;
  const largeObject = (stored: StoredObject): Promise<Buffer> => {
    if (negotiated.transform === undefined && endpoint.storedShape) {
      const json = Buffer.concat([endpoint.head, tailOf(endpoint, stored)]);
      return convertedObject(converter, negotiated, endpoint.type, json);
    }
    const form = nextForm();
    const here = async (): Promise<Buffer> => {
      await loaded(stored);
      return formed(stored, form);
    };
    const aside = asideFor(endpoint.registry, stored.size);
    return aside === undefined ? here() : asideOr(eventAside(aside, endpoint, media, form, stored), here);
  };
  return {
    events(events) {
      if (!events.some((happened) => happened.type !== 'BOOKMARK' && isLarge(happened.object))) {
        return joined(events, event);
      }
      return inOrder(events, (happened) => {
        if (happened.type === 'BOOKMARK' || !isLarge(happened.object)) return event(happened);
        return largeObject(happened.object).then((bytes) => frameEvent(media, happened.type, bytes));
      });
    },
    error,
  };
}

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

/** The form of each event, one after another. */
function formsOfEvents(negotiated: Negotiated, query: URLSearchParams, clock: () => Date): () => Form {
  const asked = formAsked(negotiated, query, clock);
  let first = true;
  return () => {
    const form = { ...asked, nowMs: clock().getTime(), withoutColumns: !first };
    first = false;
    return form;
  };
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

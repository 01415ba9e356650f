// Watch events as bytes. An event is encoded once for each form and shared by all who watch in it.
//
//   event ──▶ { JSON: frame, protobuf: frame, … }       as long as the event lives
//   batch ──▶ { JSON: frames joined, … }                watchers of the same things are handed the same array
import { offload } from '../../lib/async/worker-pool.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import type { StatusError } from '../../machinery/status.js';
import { isForWorkers, workersFor } from '../../registry/registry.js';
import { encodeJson } from '../../schema/json/encode.js';
import { loaded, type StoredObject, type WatchEvent } from '../../storage/store.js';
import { apiVersionOf, type JsonObject } from '../../machinery/object.js';
import { type Endpoint, tailOf } from '../contract/endpoint.js';
import type { MediaType } from '../wire/media-types.js';
import type { Negotiated } from '../wire/negotiate.js';
import { type Form, requestedForm, formedValue, metaType } from '../answer/formed-value.js';
import { type ProtobufForm, protobufForm } from '../answer/protobuf-form.js';
import { eventOnWorker } from '../answer/render.worker.js';
import { convertedObject } from '../answer/respond.js';
import type { RestServices } from '../contract/services.js';
import { encodeObject, frameEvent } from '../wire/codec.js';

export interface EventEncoder {
  /** A batch of events, as bytes to write together; a promise where a large object needs a worker. */
  events(events: readonly WatchEvent[]): MaybePromise<Buffer>;
  error(error: StatusError): Buffer;
}

export function eventEncoder(
  endpoint: Endpoint,
  negotiated: Negotiated,
  query: URLSearchParams,
  services: Pick<RestServices, 'clock' | 'converter'>,
): EventEncoder {
  const { media, transform } = negotiated;
  // A table has ages, and its columns in the first event only.
  if (transform?.kind === 'Table') return new TableEvents(endpoint, negotiated, query, services);
  let encoders = sharedEncoders.get(endpoint);
  if (encoders === undefined) sharedEncoders.set(endpoint, (encoders = new Map()));
  const name = `${media.encoding} ${transform?.kind} ${transform?.version}`;
  let encoder = encoders.get(name);
  if (encoder === undefined) {
    const isStored = media.encoding === 'json' && transform === undefined && endpoint.storedShape;
    encoder = isStored ? new StoredEvents(endpoint, media) : new FormedEvents(endpoint, negotiated, query, services);
    encoders.set(name, encoder);
  }
  return encoder;
}

const sharedEncoders = new WeakMap<Endpoint, Map<string, EventEncoder>>();

const errorEvent = (media: MediaType, { status }: StatusError): Buffer =>
  frameEvent(media, 'ERROR', encodeObject(media, metaType('v1', 'Status'), status));

type Frames = Map<object, MaybePromise<Buffer>>;
const framesOfBatches = new WeakMap<readonly WatchEvent[], Frames>();

// hot: one look-up per watcher and event, and one per watcher and batch; the bytes are made by the first.
const framesOfEvent = (event: WatchEvent): Frames => (event.frames ??= new Map());

function framesOfBatch(events: readonly WatchEvent[]): Frames {
  let frames = framesOfBatches.get(events);
  if (frames === undefined) framesOfBatches.set(events, (frames = new Map()));
  return frames;
}

/** Encodes each event once for all watchers that share the encoder. */
abstract class SharedEvents implements EventEncoder {
  constructor(protected readonly media: MediaType) {}

  protected abstract encode(event: WatchEvent): MaybePromise<Buffer>;

  events(events: readonly WatchEvent[]): MaybePromise<Buffer> {
    if (events.length === 1) return this.#event(events[0] as WatchEvent);
    const frames = framesOfBatch(events);
    return frames.get(this) ?? this.#share(frames, joined(events, this.#event));
  }

  error(error: StatusError): Buffer {
    return errorEvent(this.media, error);
  }

  readonly #event = (event: WatchEvent): MaybePromise<Buffer> => {
    const frames = framesOfEvent(event);
    return frames.get(this) ?? this.#share(frames, this.encode(event));
  };

  #share(frames: Frames, made: MaybePromise<Buffer>): MaybePromise<Buffer> {
    frames.set(this, made);
    if (made instanceof Promise) {
      made.then(
        (bytes) => frames.set(this, bytes),
        () => frames.delete(this),
      );
    }
    return made;
  }
}

const TYPE_HEADS = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
  BOOKMARK: Buffer.from('{"type":"BOOKMARK","object":'),
};
const EVENT_TAIL = Buffer.from('}\n');

/** JSON as it is stored: what nearly all watches want. */
class StoredEvents extends SharedEvents {
  constructor(
    private readonly endpoint: Endpoint,
    media: MediaType,
  ) {
    super(media);
  }

  protected encode(event: WatchEvent): Buffer {
    const { endpoint } = this;
    const object =
      event.type === 'BOOKMARK' ? [bookmark(endpoint, event).json] : [endpoint.head, tailOf(endpoint, event.object)];
    return Buffer.concat([TYPE_HEADS[event.type], ...object, EVENT_TAIL]);
  }
}

/** Protobuf, CBOR, another version, or metadata alone. */
class FormedEvents extends SharedEvents {
  readonly #view: EventView;

  constructor(
    endpoint: Endpoint,
    negotiated: Negotiated,
    query: URLSearchParams,
    services: Pick<RestServices, 'clock' | 'converter'>,
  ) {
    super(negotiated.media);
    const form = requestedForm(negotiated, query, services.clock);
    const { converter } = services;
    this.#view = { endpoint, negotiated, form, converter, protobuf: protobufForm(endpoint, negotiated) };
  }

  protected encode(event: WatchEvent): MaybePromise<Buffer> {
    return formedEvent(this.#view, event);
  }
}

/** Of one watch. */
class TableEvents implements EventEncoder {
  #isFirst = true;

  constructor(
    private readonly endpoint: Endpoint,
    private readonly negotiated: Negotiated,
    private readonly query: URLSearchParams,
    private readonly services: Pick<RestServices, 'clock' | 'converter'>,
  ) {}

  events(events: readonly WatchEvent[]): MaybePromise<Buffer> {
    return joined(events, (event) => this.#event(event));
  }

  error(error: StatusError): Buffer {
    return errorEvent(this.negotiated.media, error);
  }

  #event(event: WatchEvent): MaybePromise<Buffer> {
    const { endpoint, negotiated, query, services } = this;
    const form = { ...requestedForm(negotiated, query, services.clock), withoutColumns: !this.#isFirst };
    this.#isFirst = false;
    return formedEvent({ endpoint, negotiated, form, converter: services.converter, protobuf: undefined }, event);
  }
}

/** What events are made for. */
interface EventView {
  readonly endpoint: Endpoint;
  readonly negotiated: Negotiated;
  readonly form: Form;
  readonly converter: RestServices['converter'];
  readonly protobuf: ProtobufForm | undefined;
}

/** A frame in any form but stored JSON; later where the object is large. */
function formedEvent(view: EventView, event: WatchEvent): MaybePromise<Buffer> {
  const { endpoint, negotiated, form, protobuf } = view;
  const { media } = negotiated;
  const stored = objectOf(endpoint, event);
  if (event.type !== 'BOOKMARK' && isForWorkers(endpoint.registry, stored.size)) {
    return largeObject(view, stored).then((bytes) => frameEvent(media, event.type, bytes));
  }
  if (protobuf !== undefined) return protobuf.event(event.type, stored);
  const { type, value } = formedValue(endpoint, form, stored);
  return frameEvent(media, event.type, encodeObject(media, type, value));
}

const objectOf = (endpoint: Endpoint, event: WatchEvent): StoredObject =>
  event.type === 'BOOKMARK' ? bookmark(endpoint, event) : event.object;

async function largeObject(
  { endpoint, negotiated, form, converter }: EventView,
  stored: StoredObject,
): Promise<Buffer> {
  const { media, transform } = negotiated;
  if (transform === undefined && endpoint.storedShape) {
    const json = Buffer.concat([endpoint.head, tailOf(endpoint, stored)]);
    return convertedObject(converter, negotiated, endpoint.type, json);
  }
  const inline = async (): Promise<Buffer> => {
    await loaded(stored);
    const { type, value } = formedValue(endpoint, form, stored);
    return encodeObject(media, type, value);
  };
  return offload(
    workersFor(endpoint.registry, stored.size),
    (workers) => eventOnWorker(workers, { endpoint, form, stored }, media),
    inline,
  );
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

/** One after another where some are slow: a batch of large objects is not held all at once. */
function joined(
  events: readonly WatchEvent[],
  encode: (event: WatchEvent) => MaybePromise<Buffer>,
): MaybePromise<Buffer> {
  const frames: Buffer[] = [];
  for (const event of events) {
    const frame = encode(event);
    if (frame instanceof Promise) return joinedLater(events, frames, frame, encode);
    frames.push(frame);
  }
  return frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames);
}

async function joinedLater(
  events: readonly WatchEvent[],
  frames: Buffer[],
  next: Promise<Buffer>,
  encode: (event: WatchEvent) => MaybePromise<Buffer>,
): Promise<Buffer> {
  frames.push(await next);
  for (const event of events.slice(frames.length)) frames.push(await encode(event));
  return Buffer.concat(frames);
}

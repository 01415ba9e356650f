// One large object as a table, as its metadata or in another of its versions, made on a worker: as an answer, as
// a watch event, or as it stands in a list.
import { type WorkerPool, task } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import type { AnsweredForm } from '../../lib/http/http.js';
import { storedObject } from '../../registry/transferred-object.js';
import type { StoredObject } from '../../storage/store.js';
import type { Endpoint } from '../contract/endpoint.js';
import { type EndpointWork, runForEndpoint } from '../contract/endpoint-task.js';
import { type Form, formedValue, formOf } from './formed-value.js';
import { listParts } from './list-parts.js';
import { type ElementEncoding, encodeElement } from './long-list.js';
import { type MediaType, mediaTypeNamed } from '../wire/media-types.js';
import type { Negotiated } from '../wire/negotiate.js';
import { renderedValue } from './rendered-value.js';
import { encodeObject } from '../wire/codec.js';

interface Rendered extends EndpointWork {
  readonly form: Form;
  readonly stored: Uint8Array;
  readonly revision: number;
}

export interface RenderWork extends Rendered {
  /** The name of a media type. */
  readonly mediaType: string;
  readonly pretty: boolean;
}

export interface RenderMade {
  readonly bytes: Uint8Array;
  readonly form: AnsweredForm;
  /** Where the bytes are not just that. */
  readonly json?: Uint8Array;
}

export type EventWork = Omit<RenderWork, 'pretty'>;

export interface ElementWork extends Rendered {
  readonly encoding: ElementEncoding;
}

interface RenderedBytes {
  readonly bytes: Uint8Array;
}

export const RENDER = task<RenderWork, RenderMade>('render');
export const RENDER_EVENT = task<EventWork, RenderedBytes>('render event');
export const RENDER_ELEMENT = task<ElementWork, RenderedBytes>('render element');

/** An object, and how it is shown where. */
interface ShownObject {
  readonly endpoint: Endpoint;
  readonly form: Form;
  readonly stored: StoredObject;
}

export function renderOnWorker(
  workers: WorkerPool,
  shown: ShownObject,
  { media, pretty }: Negotiated,
): Promise<RenderMade> {
  const work = { ...renderedOf(shown), mediaType: media.name, pretty };
  return runForEndpoint(workers, RENDER, shown.endpoint, { work });
}

/** The watch event of an object, without a frame. */
export async function eventOnWorker(workers: WorkerPool, shown: ShownObject, media: MediaType): Promise<Buffer> {
  const work = { ...renderedOf(shown), mediaType: media.name };
  const { bytes } = await runForEndpoint(workers, RENDER_EVENT, shown.endpoint, { work });
  return bufferOf(bytes);
}

/** An object as it stands in a list. */
export async function elementOnWorker(
  workers: WorkerPool,
  shown: ShownObject,
  encoding: ElementEncoding,
): Promise<Buffer> {
  const work = { ...renderedOf(shown), encoding };
  const { bytes } = await runForEndpoint(workers, RENDER_ELEMENT, shown.endpoint, { work });
  return bufferOf(bytes);
}

const renderedOf = ({ form, stored }: ShownObject): Omit<Rendered, keyof EndpointWork> => ({
  form,
  stored: stored.json,
  revision: stored.revision,
});

// The worker's side.

export function runRender(endpoint: Endpoint, work: RenderWork): RenderMade {
  const { form, mediaType, pretty } = work;
  const { type, value } = formedValue(endpoint, form, storedOnWorker(endpoint, work));
  const { bytes, object: answered } = renderedValue({ media: mediaTypeNamed(mediaType), pretty }, type, value);
  const json = answered.json?.();
  return {
    bytes: new Uint8Array(bytes),
    form: formOf(type),
    ...(json !== undefined && { json: new Uint8Array(Buffer.from(json)) }),
  };
}

export function runRenderEvent(endpoint: Endpoint, work: EventWork): RenderedBytes {
  const { type, value } = formedValue(endpoint, work.form, storedOnWorker(endpoint, work));
  return { bytes: new Uint8Array(encodeObject(mediaTypeNamed(work.mediaType), type, value)) };
}

export function runRenderElement(endpoint: Endpoint, work: ElementWork): RenderedBytes {
  const parts = listParts(endpoint, work.form, {});
  const value = parts.element(storedOnWorker(endpoint, work));
  return { bytes: new Uint8Array(encodeElement(parts, work.encoding, value)) };
}

function storedOnWorker(endpoint: Endpoint, { stored, revision }: Rendered): StoredObject {
  const object = storedObject(endpoint.registry.store, stored);
  return {
    key: '',
    revision,
    json: bufferOf(stored),
    size: stored.length,
    object: () => object,
    labels: {},
    field: () => '',
  };
}

// One large object as a table, as its metadata or in another of its versions, made in another thread.
import { type Aside, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import type { AnsweredForm } from '../lib/http.js';
import { storedObject } from '../registry/carried-object.js';
import { type KindRef, neededBy, refOf } from '../registry/prepare-aside.js';
import type { StoredObject } from '../storage/store.js';
import type { Endpoint } from './endpoint.js';
import { type Form, formedValue, formOf } from './formed-value.js';
import { mediaTypeNamed } from './media-types.js';
import type { Negotiated } from './negotiate.js';
import { renderedValue } from './rendered-value.js';

export interface RenderWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly form: Form;
  /** The name of a media type. */
  readonly mediaType: string;
  readonly pretty: boolean;
  readonly stored: Uint8Array;
  readonly revision: number;
}

export interface RenderMade {
  readonly bytes: Uint8Array;
  readonly form: AnsweredForm;
  /** Where the bytes are not just that. */
  readonly json?: Uint8Array;
}

export const RENDER = task<RenderWork, RenderMade>('render');

export function renderAside(
  aside: Aside,
  endpoint: Endpoint,
  { media, pretty }: Negotiated,
  form: Form,
  { json, revision }: StoredObject,
): Promise<RenderMade> {
  const { definition, kind } = endpoint;
  const work: RenderWork = {
    kind: refOf(definition),
    version: kind.version,
    form,
    mediaType: media.name,
    pretty,
    stored: json,
    revision,
  };
  return aside.do(RENDER, work, { needs: neededBy(definition) });
}

/** The other side. */
export function renderHere(endpoint: Endpoint, { form, mediaType, pretty, stored, revision }: RenderWork): RenderMade {
  const object = storedObject(endpoint.registry.store, stored);
  const { type, value } = formedValue(endpoint, form, {
    key: '',
    revision,
    json: bufferOf(stored),
    size: stored.length,
    object: () => object,
    labels: {},
    field: () => '',
  });
  const { bytes, object: answered } = renderedValue({ media: mediaTypeNamed(mediaType), pretty }, type, value);
  const json = answered.json?.();
  return {
    bytes: new Uint8Array(bytes),
    form: formOf(type),
    ...(json !== undefined && { json: new Uint8Array(Buffer.from(json)) }),
  };
}

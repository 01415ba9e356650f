// Objects of one endpoint in protobuf: each is encoded once, and lists, answers and watch events are joined from its bytes.
//
// One field holds the message in all three, so the field with its tag and length is what is kept:
//
//   element      0x12 │ length │ message
//   list item    element
//   answer       mark │ type │ element │ tail                    (an envelope)
//   watch event  frame │ event type │ mark │ type │ element │ tail
import type { AnsweredObject } from '../../lib/http/http.js';
import { apiVersionOf } from '../../machinery/object.js';
import { encodeJson } from '../../schema/json/encode.js';
import {
  ELEMENT_FIELD,
  lentProtobufElement,
  PROTOBUF_ENVELOPE_TAIL,
  protobufEnvelopeHead,
} from '../../schema/protobuf/envelope.js';
import { protobufWatchEvent } from '../../schema/protobuf/frames.js';
import { spliceProtobufVersion } from '../../schema/protobuf/splice-version.js';
import type { StoredObject } from '../../storage/store.js';
import type { Endpoint } from '../contract/endpoint.js';
import { type FormedValue, formedValue } from './formed-value.js';
import { RecentElements } from './recent-elements.js';
import type { Negotiated, Transform } from '../wire/negotiate.js';

export class ProtobufForm {
  readonly #head: Buffer;

  constructor(
    readonly endpoint: Endpoint,
    /** Of metadata alone: in which version. */
    private readonly metadataVersion: Transform['version'] | undefined,
  ) {
    const { kind } = endpoint;
    this.#head =
      metadataVersion === undefined
        ? protobufEnvelopeHead(kind.kind, apiVersionOf(kind))
        : protobufEnvelopeHead('PartialObjectMetadata', `meta.k8s.io/${metadataVersion}`);
  }

  value(stored: StoredObject): FormedValue {
    const { metadataVersion } = this;
    const transform = metadataVersion && ({ kind: 'PartialObjectMetadata', version: metadataVersion } as const);
    return formedValue(this.endpoint, { transform, includeObject: 'None', nowMs: 0 }, stored);
  }

  // hot: every item of a list
  element(stored: StoredObject): Buffer {
    const known = stored.encoded?.(this) ?? this.#written(stored);
    if (known !== undefined) return known;
    const { type, value } = this.value(stored);
    const lent = lentProtobufElement(type, value, ELEMENT_FIELD);
    return stored.keepEncoded?.(this, lent) ?? Buffer.from(lent);
  }

  /** From what was just written to a store that keeps protobuf, where it has the endpoint's version. */
  #written({ storedForm, revision }: StoredObject): Buffer | undefined {
    if (storedForm === undefined || this.metadataVersion !== undefined) return undefined;
    const head = this.#head;
    const begins = storedForm.length > head.length && head.compare(storedForm, 0, head.length) === 0;
    return begins ? spliceProtobufVersion(storedForm, head.length, String(revision)) : undefined;
  }

  /** An answer, in pieces. */
  object(stored: StoredObject): readonly Buffer[] {
    const element = recentElements.find(this, stored) ?? this.element(stored);
    return [this.#head, element, PROTOBUF_ENVELOPE_TAIL];
  }

  /** What is recorded of an answer. */
  recorded(stored: StoredObject): AnsweredObject {
    const json = (): string => {
      const { type, value } = this.value(stored);
      return encodeJson(type, value);
    };
    return { form: 'object', json };
  }

  event(type: string, stored: StoredObject): Buffer {
    let element = recentElements.find(this, stored);
    if (element === undefined) {
      element = this.element(stored);
      recentElements.add(this, stored, element);
    }
    return protobufWatchEvent(type, this.#head, element, PROTOBUF_ENVELOPE_TAIL);
  }
}

const recentElements = new RecentElements();

/**
 * The requested form of objects, or of a list's items; undefined where it is none of these. There is one of
 * each endpoint, so that it is a key to bytes.
 */
export function protobufForm(
  endpoint: Endpoint,
  { media, transform }: Negotiated,
  metadataKind: 'PartialObjectMetadata' | 'PartialObjectMetadataList' = 'PartialObjectMetadata',
): ProtobufForm | undefined {
  if (media.encoding !== 'protobuf') return undefined;
  if (transform === undefined ? endpoint.type.unstructured !== undefined : transform.kind !== metadataKind) {
    return undefined;
  }
  let forms = known.get(endpoint);
  if (forms === undefined) known.set(endpoint, (forms = new Map()));
  const version = transform?.version;
  let form = forms.get(version);
  if (form === undefined) forms.set(version, (form = new ProtobufForm(endpoint, version)));
  return form;
}

const known = new WeakMap<Endpoint, Map<Transform['version'] | undefined, ProtobufForm>>();

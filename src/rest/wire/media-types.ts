// The forms that an object has on the wire.

export type Encoding = 'json' | 'yaml' | 'protobuf' | 'cbor';

export interface MediaType {
  readonly encoding: Encoding;
  readonly name: string;
  /** What a watch's answer is labelled with; absent for a form that cannot be watched in. */
  readonly streamName?: string;
  /** Only for tables and metadata alone: custom resources themselves have no such form. */
  readonly transformsOnly?: boolean;
}

export const JSON_TYPE: MediaType = {
  encoding: 'json',
  name: 'application/json',
  streamName: 'application/json',
};
const YAML_TYPE: MediaType = {
  encoding: 'yaml',
  name: 'application/yaml',
};
const PROTOBUF_TYPE: MediaType = {
  encoding: 'protobuf',
  name: 'application/vnd.kubernetes.protobuf',
  streamName: 'application/vnd.kubernetes.protobuf;stream=watch',
};
export const CBOR_TYPE: MediaType = {
  encoding: 'cbor',
  name: 'application/cbor',
  streamName: 'application/cbor-seq',
};

/** How the forms a watch can have are named to clients. */
export const streamNames = (mediaTypes: readonly MediaType[]): string[] =>
  mediaTypes
    .filter(({ streamName }) => streamName !== undefined)
    .map(({ encoding, name, streamName = '' }) => (encoding === 'cbor' ? streamName : `${name};stream=watch`));

/** What the server reads and writes, in the order errors name them. */
export const MEDIA_TYPES: readonly MediaType[] = [JSON_TYPE, YAML_TYPE, PROTOBUF_TYPE];
/** With the gate CBORServingAndStorage. */
export const MEDIA_TYPES_WITH_CBOR: readonly MediaType[] = [...MEDIA_TYPES, CBOR_TYPE];

const customForms = new WeakMap<readonly MediaType[], readonly MediaType[]>();

/** The media types of custom resources. */
export function customMediaTypes(mediaTypes: readonly MediaType[]): readonly MediaType[] {
  let known = customForms.get(mediaTypes);
  if (known === undefined) {
    known = mediaTypes.map((type) => (type.encoding === 'protobuf' ? { ...type, transformsOnly: true } : type));
    customForms.set(mediaTypes, known);
  }
  return known;
}

/** By its own name, as it goes to another thread. */
export function mediaTypeNamed(name: string | undefined): MediaType {
  const media = MEDIA_TYPES_WITH_CBOR.find((one) => one.name === name);
  if (media === undefined) throw new Error(`there is no media type ${name}`);
  return media;
}

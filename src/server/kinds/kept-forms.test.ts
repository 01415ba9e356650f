// Every kind in every form: what is joined from kept bytes, or spliced from stored ones, is what the plain encoder writes.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KeyValueStore } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KubeObject, ObjectMeta } from '../../machinery/object.js';
import type { KindDefinition } from '../../registry/kind.js';
import { metaType } from '../../rest/answer/formed-value.js';
import { type Endpoint, storageVersionOf } from '../../rest/contract/endpoint.js';
import { encodeObject, frameEvent } from '../../rest/wire/codec.js';
import { MEDIA_TYPES_WITH_CBOR, type MediaType } from '../../rest/wire/media-types.js';
import { typeOf } from '../../schema/catalogue.js';
import { decodeJson, normalize } from '../../schema/json/decode.js';
import { objectOf } from '../../schema/testing.js';
import type { StructType } from '../../schema/type.js';
import type { StoredObject } from '../../storage/store.js';
import { TestApi } from '../testing/test-api.js';
import { type KindParts, serverKinds } from './kinds.js';

/** Nothing is validated here, so that kinds need none of what they ask others for. */
const PARTS = {
  core: { binding: {}, componentStatus: {}, service: {}, serviceAccount: {} },
  access: {},
  identity: {},
} as unknown as KindParts;
const KINDS = serverKinds(PARTS).filter((kind) => {
  const isStored = kind.virtual === undefined;
  return isStored && (kind.verbs === undefined || kind.verbs.includes('watch'));
});
const NAMES = ['one', 'three', 'two'];
const METADATA = ';as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = ';as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** A store that others write to as well: it keeps protobuf. */
const elsewhere = (store: KeyValueStore): KeyValueStore =>
  new Proxy(store, {
    get(target, member) {
      if (member === 'local') return false;
      const own: unknown = Reflect.get(target, member, target);
      return typeof own === 'function' ? (own.bind(target) as unknown) : own;
    },
  });

describe('with a store in this process, from kept bytes as from the encoder', () => {
  for (const kind of KINDS) {
    it(`${kind.group || 'core'} ${kind.kind} is the same`, async () => {
      const objects = new Objects(kind, openMemoryStore());
      for (const name of NAMES) await objects.write(name);
      await objects.api.advance(0);
      for (const answers of objects.answers()) {
        for (const form of FORMS) {
          await answers.expectObject(form);
          await answers.expectObject(form);
          await answers.expectList(form, '');
          await answers.expectList(form, '?limit=2');
          await answers.expectEvents(form);
        }
      }
    });
  }
});

describe('with a store elsewhere, from the bytes that were written to it as from the encoder', () => {
  for (const kind of KINDS) {
    it(`${kind.group || 'core'} ${kind.kind} is the same`, async () => {
      const objects = new Objects(kind, elsewhere(openMemoryStore()));
      const isProtobuf = kind.storage?.shape === undefined;
      for (const answers of objects.answers()) {
        const { storedForm } = await objects.write('one');
        assert.equal(storedForm?.subarray(0, 3).toString() === 'k8s', isProtobuf);
        await answers.expectObject(PLAIN_PROTOBUF);
        await answers.expectEvents(PLAIN_PROTOBUF);
      }
    });
  }
});

interface Form {
  readonly media: MediaType;
  readonly metadataAlone: boolean;
}

const FORMS: readonly Form[] = MEDIA_TYPES_WITH_CBOR.filter(({ encoding }) => encoding !== 'yaml').flatMap((media) => [
  { media, metadataAlone: false },
  { media, metadataAlone: true },
]);

const PLAIN_PROTOBUF = FORMS.find(
  ({ media, metadataAlone }) => media.encoding === 'protobuf' && !metadataAlone,
) as Form;

/** Made-up objects of a kind, written past everything that would look at them. */
class Objects {
  readonly api: TestApi;
  readonly #revisions = new Map<string, number>();
  #made = 0;

  constructor(
    readonly kind: KindDefinition,
    kv: KeyValueStore,
  ) {
    this.api = new TestApi({ kinds: [kind], kv, runtimeConfig: { 'api/all': 'true' } });
  }

  async write(name: string): Promise<StoredObject> {
    const { namespaced, group, plural } = this.kind;
    const registry = this.api.resources.registry({ group, resource: plural });
    assert.ok(registry !== undefined);
    const key = namespaced ? `n/${name}` : name;
    const before = this.#revisions.get(name);
    const object = this.#next(name);
    const { store } = registry;
    const stored = await (before === undefined ? store.create(key, object) : store.update(key, before, object));
    this.#revisions.set(name, stored.revision);
    return stored;
  }

  #next(name: string): KubeObject {
    const { kind } = this;
    const { group, version } = storageVersionOf(kind);
    const type = typeOf(group, version, kind.kind);
    assert.ok(type !== undefined);
    const [made = {}] = fc.sample(objectOf(type, 4), { seed: 20_340 + this.#made++, numRuns: 1 });
    const { namespace: _namespace, resourceVersion: _version, ...metadata } = Object(made['metadata']) as ObjectMeta;
    const object = {
      ...made,
      kind: kind.kind,
      apiVersion: group === '' ? version : `${group}/${version}`,
      metadata: { ...metadata, name, ...(kind.namespaced && { namespace: 'n' }) },
    };
    return normalize(type, object) as KubeObject;
  }

  *answers(): Generator<Answers> {
    for (const { version } of this.kind.versions) {
      const endpoint = this.api.resources.find(this.kind.group, version, this.kind.plural);
      assert.ok(endpoint !== undefined);
      yield new Answers(this, endpoint);
    }
  }
}

/** Answers of one version of a kind, beside what the plain encoder makes of the same answers in JSON. */
class Answers {
  readonly #path: string;

  constructor(
    readonly objects: Objects,
    readonly endpoint: Endpoint,
  ) {
    const { group, version, resource } = endpoint.resource;
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    this.#path = `${root}/${endpoint.definition.namespaced ? 'namespaces/n/' : ''}${resource}`;
  }

  async expectObject(form: Form): Promise<void> {
    await this.#expect(form, `${this.#path}/one`, METADATA, this.#objectType(form));
  }

  async expectList(form: Form, query: string): Promise<void> {
    const type = form.metadataAlone ? metaType('v1', 'PartialObjectMetadataList') : this.endpoint.listType;
    await this.#expect(form, this.#path + query, METADATA_LIST, type);
  }

  async #expect({ media, metadataAlone }: Form, target: string, metadata: string, type: StructType): Promise<void> {
    const suffix = metadataAlone ? metadata : '';
    const { status, bytes } = await this.objects.api.get(target, { accept: media.name + suffix });
    assert.equal(status, 200, bytes.toString());
    const json = (await this.objects.api.get(target, { accept: `application/json${suffix}` })).bytes;
    assert.equal(hex(bytes), hex(plainly(media, type, json)), `${target} as ${media.name}${suffix}`);
  }

  async expectEvents(form: Form): Promise<void> {
    const { media, metadataAlone } = form;
    const suffix = metadataAlone ? METADATA : '';
    const type = this.#objectType(form);
    const target = `${this.#path}?watch=true&fieldSelector=metadata.name%3Done`;
    const watch = await this.objects.api.watch(target, { accept: media.name + suffix });
    const asJson = await this.objects.api.watch(target, { accept: `application/json${suffix}` });
    try {
      for (const round of ['initial', 'written']) {
        if (round === 'written') await this.objects.write('one');
        const line = (await asJson.nextBytes()).toString();
        const event = JSON.parse(line) as { readonly type: string };
        const json = line.slice(line.indexOf('"object":') + '"object":'.length, -2);
        const object = withoutLineBreak(plainly(media, type, Buffer.from(json)), media);
        const expected = frameEvent(media, event.type, object);
        assert.equal(hex(await watch.nextBytes()), hex(expected), `${round} ${target} as ${media.name}${suffix}`);
      }
    } finally {
      watch.stop();
      asJson.stop();
    }
  }

  readonly #objectType = ({ metadataAlone }: Form): StructType =>
    metadataAlone ? metaType('v1', 'PartialObjectMetadata') : this.endpoint.type;
}

/** What is sent of an object, encoded as if nothing were kept. */
function plainly(media: MediaType, type: StructType, json: Buffer): Buffer {
  const bytes = encodeObject(media, type, decodeJson(type, json, { strict: false }).object);
  return media.encoding === 'json' ? Buffer.concat([bytes, LINE_BREAK]) : bytes;
}

const LINE_BREAK = Buffer.from('\n');

const withoutLineBreak = (bytes: Buffer, { encoding }: MediaType): Buffer =>
  encoding === 'json' ? bytes.subarray(0, -1) : bytes;

/** Texts are compared as such: a difference is then shown where it is. */
const hex = (bytes: Buffer): string => (bytes[0] === 0x7b ? bytes.toString() : bytes.toString('hex'));

// What OpenAPI documents say of kinds with large schemas, and whole documents as protobuf, made in another thread.
import { type Aside, asideOr, task } from '../lib/aside.js';
import { bufferOf } from '../lib/buffer-of.js';
import { type KindRef, neededBy, refOf } from '../registry/prepare-aside.js';
import { asideFor } from '../registry/registry.js';
import { type Definition, printedDefinition } from '../schema/openapi/definitions.js';
import type { JsonSchema, SchemaForm } from '../schema/openapi/json-schema.js';
import { encodeDocumentV2 } from '../schema/openapi/protobuf-v2.js';
import { encodeDocumentV3 } from '../schema/openapi/protobuf-v3.js';
import type { Endpoint } from './endpoint.js';

interface PublishWork {
  readonly kind: KindRef;
  readonly version: string;
  readonly form: SchemaForm;
  /** Of the type. */
  readonly name: string;
}

interface PublishMade {
  readonly text: Uint8Array;
  readonly references: readonly string[];
}

export const PUBLISH = task<PublishWork, PublishMade>('publish');

/** The definitions of custom kinds' types, for as long as the kinds are served. */
export class CustomDefinitions {
  readonly #made = new WeakMap<Endpoint, Definition>();

  constructor(private readonly form: SchemaForm) {}

  of(endpoint: Endpoint, name: string): Definition | undefined {
    // That of a list is small.
    if (endpoint.type.name !== name) return undefined;
    let made = this.#made.get(endpoint);
    if (made === undefined) {
      const schema = endpoint.definition.openApiSchema?.(this.form, name);
      if (schema === undefined) return undefined;
      this.#made.set(endpoint, (made = printedDefinition(name, schema)));
    }
    return made;
  }

  /** Those that take long are made elsewhere: undefined when there are none to wait for. */
  prepare(endpoints: readonly Endpoint[]): Promise<unknown> | undefined {
    const wanted = endpoints.filter((endpoint) => publishesAside(endpoint) !== undefined && !this.#made.has(endpoint));
    return wanted.length === 0 ? undefined : Promise.all(wanted.map((endpoint) => this.#prepare(endpoint)));
  }

  async #prepare(endpoint: Endpoint): Promise<void> {
    const aside = publishesAside(endpoint);
    if (aside === undefined) return;
    const { definition, kind, type } = endpoint;
    const work = { kind: refOf(definition), version: kind.version, form: this.form, name: type.name };
    const made = await asideOr<PublishMade | undefined>(
      aside.do(PUBLISH, work, { needs: neededBy(definition) }),
      () => undefined,
    );
    if (made === undefined) return;
    const { text, references } = made;
    this.#made.set(endpoint, { text: bufferOf(text).toString(), references });
  }
}

/** Where even a byte of an object is too much to look at here, its schema is what takes long. */
function publishesAside({ registry, definition }: Endpoint): Aside | undefined {
  return definition.openApiSchema === undefined ? undefined : asideFor(registry, 1);
}

/** The other side. */
export function publishHere({ definition }: Endpoint, { form, name }: PublishWork): PublishMade {
  const schema = definition.openApiSchema?.(form, name);
  if (schema === undefined) throw new Error(`${name} is not published`);
  const { text, references } = printedDefinition(name, schema);
  return { text: new Uint8Array(Buffer.from(text)), references };
}

export const ENCODE_DOCUMENT = task<
  { readonly form: SchemaForm; readonly json: Uint8Array },
  { readonly bytes: Uint8Array }
>('encode-document');

/** A document as protobuf. */
export const encodeDocument = async (aside: Aside | undefined, form: SchemaForm, json: Buffer): Promise<Buffer> => {
  const here = (): { bytes: Uint8Array } => encodeDocumentHere({ form, json });
  if (aside === undefined || json.length < aside.fromBytes) return bufferOf(here().bytes);
  return bufferOf((await asideOr(aside.do(ENCODE_DOCUMENT, { form, json }), here)).bytes);
};

export function encodeDocumentHere({ form, json }: { readonly form: SchemaForm; readonly json: Uint8Array }): {
  bytes: Uint8Array;
} {
  const document = JSON.parse(bufferOf(json).toString()) as JsonSchema;
  return { bytes: new Uint8Array(form === 'v2' ? encodeDocumentV2(document) : encodeDocumentV3(document)) };
}

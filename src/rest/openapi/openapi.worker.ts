// What OpenAPI documents say of kinds with large schemas, and whole documents as protobuf, made on a worker.
import { offload, task, type WorkerPool, workersForBytes } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { workersFor } from '../../registry/registry.js';
import { type Definition, encodedDefinition } from '../../schema/openapi/definitions.js';
import type { JsonSchema, SchemaForm } from '../../schema/openapi/json-schema.js';
import { encodeDocumentV2 } from '../../schema/openapi/protobuf-v2.js';
import { encodeDocumentV3 } from '../../schema/openapi/protobuf-v3.js';
import type { Endpoint } from '../contract/endpoint.js';
import { type EndpointWork, runForEndpoint } from '../contract/endpoint-task.js';

interface PublishWork extends EndpointWork {
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
      this.#made.set(endpoint, (made = encodedDefinition(name, schema)));
    }
    return made;
  }

  /** The slow ones are built on workers: undefined when there are none to wait for. */
  prepare(endpoints: readonly Endpoint[]): Promise<unknown> | undefined {
    const wanted = endpoints.filter(
      (endpoint) => publishesOnWorker(endpoint) !== undefined && !this.#made.has(endpoint),
    );
    return wanted.length === 0 ? undefined : Promise.all(wanted.map((endpoint) => this.#prepare(endpoint)));
  }

  async #prepare(endpoint: Endpoint): Promise<void> {
    const work = { form: this.form, name: endpoint.type.name };
    const made = await offload<PublishMade | undefined>(
      publishesOnWorker(endpoint),
      (workers) => runForEndpoint(workers, PUBLISH, endpoint, { work }),
      () => undefined,
    );
    if (made === undefined) return;
    const { text, references } = made;
    this.#made.set(endpoint, { text: bufferOf(text).toString(), references });
  }
}

/** Where even a byte of an object is too much to look at inline, its schema is what is slow. */
function publishesOnWorker({ registry, definition }: Endpoint): WorkerPool | undefined {
  return definition.openApiSchema === undefined ? undefined : workersFor(registry, 1);
}

/** The worker's side. */
export function runPublish({ definition }: Endpoint, { form, name }: PublishWork): PublishMade {
  const schema = definition.openApiSchema?.(form, name);
  if (schema === undefined) throw new Error(`${name} is not published`);
  const { text, references } = encodedDefinition(name, schema);
  return { text: new Uint8Array(Buffer.from(text)), references };
}

export const ENCODE_DOCUMENT = task<
  { readonly form: SchemaForm; readonly json: Uint8Array },
  { readonly bytes: Uint8Array }
>('encode-document');

/** A document as protobuf. */
export const encodeDocument = async (
  workers: WorkerPool | undefined,
  form: SchemaForm,
  json: Buffer,
): Promise<Buffer> => {
  const { bytes } = await offload(
    workersForBytes(workers, json.length),
    (pool) => pool.run(ENCODE_DOCUMENT, { form, json }),
    () => runEncodeDocument({ form, json }),
  );
  return bufferOf(bytes);
};

export function runEncodeDocument({ form, json }: { readonly form: SchemaForm; readonly json: Uint8Array }): {
  bytes: Uint8Array;
} {
  const document = JSON.parse(bufferOf(json).toString()) as JsonSchema;
  return { bytes: new Uint8Array(form === 'v2' ? encodeDocumentV2(document) : encodeDocumentV3(document)) };
}

import crypto from 'node:crypto';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import type { SchemaForm } from '../../schema/openapi/json-schema.js';
import { encodeDocument } from './openapi.worker.js';

/** A document in the forms it is served in, each made on first request. */
export class PublishedDocument {
  #json: Buffer | undefined;
  #protobuf: Promise<Buffer> | undefined;
  #hash: string | undefined;

  constructor(
    private readonly encode: () => Buffer,
    private readonly form: SchemaForm,
    readonly since: Date,
  ) {}

  get isBuilt(): boolean {
    return this.#hash !== undefined;
  }

  build(): void {
    this.#hash ??= hashOf(this.json);
  }

  get json(): Buffer {
    this.#json ??= this.encode();
    return this.#json;
  }

  protobuf(workers: WorkerPool | undefined): Promise<Buffer> {
    this.#protobuf ??= encodeDocument(workers, this.form, this.json).catch((error: unknown) => {
      this.#protobuf = undefined;
      throw error;
    });
    return this.#protobuf;
  }

  /** Of the JSON form; the other form is the same document. */
  get hash(): string {
    return (this.#hash ??= hashOf(this.json));
  }
}

const hashOf = (bytes: Buffer): string => crypto.createHash('sha512').update(bytes).digest('hex').toUpperCase();

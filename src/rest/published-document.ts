import crypto from 'node:crypto';
import type { JsonSchema } from '../schema/openapi/json-schema.js';

/** A document in the forms it is served in, each made when first asked for. */
export class PublishedDocument {
  #json: Buffer | undefined;
  #protobuf: Buffer | undefined;
  #hash: string | undefined;

  constructor(
    private readonly build: () => string,
    private readonly encode: (document: JsonSchema) => Buffer,
    readonly since: Date,
  ) {}

  get json(): Buffer {
    this.#json ??= Buffer.from(this.build());
    return this.#json;
  }

  get protobuf(): Buffer {
    this.#protobuf ??= this.encode(JSON.parse(this.json.toString()) as JsonSchema);
    return this.#protobuf;
  }

  /** Of the JSON form; the other form is the same document. */
  get hash(): string {
    this.#hash ??= crypto.createHash('sha512').update(this.json).digest('hex').toUpperCase();
    return this.#hash;
  }
}

import crypto from 'node:crypto';
import type { JsonSchema } from '../schema/openapi/json-schema.js';

/** A document in the forms it is served in, each made when first asked for. */
export class PublishedDocument {
  #json: Buffer | undefined;
  #protobuf: Buffer | undefined;
  #hash: string | undefined;

  constructor(
    private readonly print: () => string,
    private readonly encode: (document: JsonSchema) => Buffer,
    readonly since: Date,
  ) {}

  get isBuilt(): boolean {
    return this.#hash !== undefined;
  }

  build(): void {
    this.#hash ??= hashOf(this.json);
  }

  get json(): Buffer {
    this.#json ??= Buffer.from(this.print());
    return this.#json;
  }

  get protobuf(): Buffer {
    this.#protobuf ??= this.encode(JSON.parse(this.json.toString()) as JsonSchema);
    return this.#protobuf;
  }

  /** Of the JSON form; the other form is the same document. */
  get hash(): string {
    return (this.#hash ??= hashOf(this.json));
  }
}

const hashOf = (bytes: Buffer): string => crypto.createHash('sha512').update(bytes).digest('hex').toUpperCase();

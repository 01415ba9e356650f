// The heads of our requests as frames. Nearly all of them say what one before said: then it is the same few bytes.
import type { HpackEncoder } from '../hpack/encoder.js';
import type { ClientStream } from './client-stream.js';
import type { Output } from './output.js';
import { beginBlock, closeBlock } from './put-block.js';

const MAX_MEMOIZED = 64;

export class RequestHeadWriter {
  readonly #encoder: HpackEncoder;
  readonly #authority: string;
  readonly #scheme: string;
  /** By path; they mean the same as long as the table's version is `#version`. */
  readonly #known = new Map<string, Buffer>();
  #version = 0;

  constructor(encoder: HpackEncoder, { authority, scheme }: { readonly authority: string; readonly scheme: string }) {
    this.#encoder = encoder;
    this.#authority = authority;
    this.#scheme = scheme;
  }

  /** Of a gRPC call; what it says follows. */
  // hot: once for each call.
  put(out: Output, { id, path, metadata }: ClientStream, frameBytes: number): void {
    const at = beginBlock(out);
    const known = metadata === undefined && this.#version === this.#encoder.version ? this.#known.get(path) : undefined;
    if (known !== undefined) {
      out.ensure(known.length);
      out.put(known);
    } else this.#putFields(out, path, metadata);
    closeBlock(out, at, { stream: id, endStream: false, frameBytes });
  }

  #putFields(out: Output, path: string, metadata: ClientStream['metadata']): void {
    const encoder = this.#encoder;
    const before = encoder.version;
    const start = out.at;
    encoder.begin(out);
    encoder.putField(out, ':method', 'POST');
    encoder.putField(out, ':scheme', this.#scheme);
    encoder.putField(out, ':path', path);
    encoder.putField(out, ':authority', this.#authority);
    encoder.putField(out, 'content-type', 'application/grpc');
    encoder.putField(out, 'te', 'trailers');
    for (const name in metadata) encoder.putField(out, name, metadata[name] ?? '');
    // Where the table changed, the next call writes the same as indexes.
    if (metadata !== undefined || encoder.version !== before) return;
    if (this.#version !== before || this.#known.size >= MAX_MEMOIZED) this.#known.clear();
    this.#version = before;
    this.#known.set(path, Buffer.from(out.bytes.subarray(start, out.at)));
  }
}

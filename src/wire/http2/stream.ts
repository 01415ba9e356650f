// One request and its answer: what the handler sees of it, and how far both have come.
import type { Readable } from 'node:stream';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { parseQuery } from '../../lib/http/request-target.js';
import { Abortable } from '../../lib/async/abortable.js';
import { resetText } from '../../lib/http/http2-reset.js';
import type { BodyErrors } from '../body-errors.js';
import type { ByteWriter } from '../byte-writer.js';
import type { OutgoingStream } from './outgoing.js';
import { PieceQueue } from './piece-queue.js';
import type { RequestHead } from './request-head.js';
import { Upload, type UploadOwner } from './upload.js';

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly remoteAddress: string;
  readonly clientCertificates: () => readonly Buffer[];
  readonly bodyErrors: BodyErrors;
  /** The answer cannot be finished. */
  breakOff(stream: Http2Stream): void;
  /** The handler has consumed so many bytes of the stream's body. */
  taken(stream: Http2Stream, bytes: number): void;
  /** The handler reads the stream's body. */
  wanted(stream: Http2Stream): void;
}

const EMPTY = Buffer.alloc(0);

export class Http2Stream extends Abortable implements HttpRequest, UploadOwner, OutgoingStream<Http2Stream> {
  headers: HttpRequest['headers'];
  /** Of a request with a body. */
  upload: Upload | undefined = undefined;
  /** What the client may send, and what it may send more and does not know yet. */
  receiveWindow = 0;
  unacknowledgedBytes = 0;
  /** Of its body, which may still be coming. */
  lastFrame = false;
  /** `100 Continue` was sent. */
  continued = false;
  /** An answer in pieces has begun. */
  responded = false;
  /** Nothing goes either way any more. */
  closed = false;
  /** All of the answer is in the queue. */
  finished = false;
  /** What follows the last of the answer. */
  trailers: HttpResponse['headers'] | undefined = undefined;
  /** The end was sent. */
  ended = false;
  pendingBytes = 0;
  /** In the ring of those that may send, with the next one after it. */
  ready = false;
  next: Http2Stream | undefined = undefined;
  /** What waits, while it is one piece: most events leave before the next is there. */
  #piece: Buffer | undefined = undefined;
  /** What waits otherwise. */
  #queue: PieceQueue | undefined = undefined;
  #whenDrained: (() => void)[] | undefined = undefined;
  #query: URLSearchParams | undefined = undefined;

  constructor(
    readonly connection: StreamOwner,
    readonly id: number,
    readonly head: RequestHead,
    public sendWindow: number,
  ) {
    super();
    this.headers = head.headers;
  }

  get method(): string {
    return this.head.method;
  }

  get path(): string {
    return this.head.path;
  }

  get search(): string {
    return this.head.search;
  }

  get host(): string {
    return this.head.host;
  }

  get rawHeaders(): readonly string[] {
    return this.head.rawHeaders;
  }

  get httpVersion(): '2.0' {
    return '2.0';
  }

  get query(): URLSearchParams {
    return (this.#query ??= parseQuery(this.head.search));
  }

  /** Drops the parsed query; a later read parses it again. Streamed answers last, and thousands of them are open. */
  forgetQuery(): void {
    this.#query = undefined;
  }

  get remoteAddress(): string {
    return this.connection.remoteAddress;
  }

  get clientCertificates(): readonly Buffer[] {
    return this.connection.clientCertificates();
  }

  cancel(reason: Error): void {
    this.stop(reason);
    if (this.responded) this.connection.breakOff(this);
  }

  /** The request has a body, of which the client may send so much for now. */
  expectBody(windowBytes: number): void {
    this.receiveWindow = windowBytes;
    this.upload = new Upload(this.head.contentLength, this, this.connection.bodyErrors);
  }

  taken(bytes: number): void {
    this.connection.taken(this, bytes);
  }

  wanted(): void {
    this.connection.wanted(this);
  }

  body(limitBytes: number): Promise<Buffer> {
    return this.upload === undefined ? Promise.resolve(EMPTY) : this.upload.read(limitBytes);
  }

  bodyStream(): Readable | undefined {
    return this.upload?.stream();
  }

  /** The client sends no more of it. */
  get received(): boolean {
    return this.upload === undefined || this.upload.ended;
  }

  get canSend(): boolean {
    return this.pendingBytes > 0 ? this.sendWindow > 0 : this.finished && !this.ended;
  }

  enqueue(bytes: Buffer): void {
    this.pendingBytes += bytes.length;
    if (this.#queue === undefined && this.#piece === undefined) this.#piece = bytes;
    else this.#queued().add(bytes);
  }

  #queued(): PieceQueue {
    const queue = (this.#queue ??= new PieceQueue());
    if (this.#piece !== undefined) queue.add(this.#piece);
    this.#piece = undefined;
    return queue;
  }

  /** So many of the bytes that wait. Small pieces share a frame. */
  // hot: for each event and watcher.
  moveTo(out: ByteWriter, length: number): void {
    if (this.#piece?.length === length) out.put(this.#piece);
    else this.#queued().moveTo(out, length);
    this.pendingBytes -= length;
    if (this.pendingBytes === 0) this.#drain();
  }

  /** True once, when the last of the answer goes out. */
  endsNow(): boolean {
    if (!this.finished || this.pendingBytes > 0) return false;
    this.ended = true;
    return true;
  }

  drained(): Promise<void> {
    if (this.closed || this.pendingBytes === 0) return Promise.resolve();
    return new Promise((resolve) => {
      (this.#whenDrained ??= []).push(resolve);
    });
  }

  /**
   * Nothing goes either way any more; `gone` says why, where the answer was not finished, and `reset` by which code,
   * where either side took the stream back.
   */
  close(gone: Error | undefined, reset?: number): void {
    if (this.closed) return;
    this.closed = true;
    this.pendingBytes = 0;
    this.#drain();
    if (gone !== undefined) {
      this.stop(gone);
      if (!this.received) this.upload?.cut(reset === undefined ? 'client disconnected' : resetText(this.id, reset));
    }
  }

  #drain(): void {
    this.#piece = undefined;
    this.#queue = undefined;
    const waiting = this.#whenDrained;
    this.#whenDrained = undefined;
    if (waiting !== undefined) for (const go of waiting) go();
  }
}

// A call with any number of messages either way, as a stream of HTTP/2.
import { ClientStream, type StreamLoss } from '../wire/http2/client-stream.js';
import type { HeaderFields } from '../wire/http2/response-heads.js';
import { GrpcError, NoAnswer } from './grpc-error.js';
import { failureOf } from './grpc-failure.js';
import { framed, MessageReader } from './grpc-messages.js';
import { endOutcome, headFault, NO_TRAILERS, type Outcome, REFUSED, resetOutcome } from './grpc-outcome.js';

const CANCEL = 8;

export interface StreamingOptions {
  readonly method: string;
  readonly metadata: Readonly<Record<string, string>> | undefined;
  readonly maxMessageBytes: number;
  /** Receives a message. While a returned promise is pending, no more flow-control window is granted. */
  readonly take: (message: Buffer) => void | Promise<void>;
  /** Called once, with NoAnswer when the stream ends without error. */
  readonly ended: (error: GrpcError) => void;
  /** How it went on a connection that ended. */
  readonly lostOutcome: (why: string) => Outcome;
}

export class StreamingCall extends ClientStream {
  readonly #options: StreamingOptions;
  readonly #reader: MessageReader;
  /** The receiver works on what came before. */
  #tail: Promise<void> | undefined = undefined;
  #over = false;

  constructor(options: StreamingOptions) {
    super(options.method, options.metadata);
    this.#options = options;
    this.#reader = new MessageReader(options.maxMessageBytes);
  }

  send(message: Buffer): boolean {
    return this.write(framed(message));
  }

  override onHead(fields: HeaderFields, ends: boolean): void {
    const fault = headFault(fields);
    if (fault !== undefined) return this.#fail(fault);
    this.#reader.encoding = fields['grpc-encoding'] ?? '';
    if (ends) this.#end(endOutcome(fields));
  }

  override onData(piece: Buffer): void {
    if (this.#over) return;
    try {
      const messages = this.#reader.take(piece);
      const busy =
        this.#tail === undefined ? this.#deliver(messages, 0) : this.#tail.then(() => this.#deliver(messages, 0));
      if (busy === undefined) this.owner?.taken(this, piece.length);
      else this.#waitFor(busy, piece.length);
    } catch (error) {
      this.#fail(failureOf(error));
    }
  }

  override onTrailers(fields: HeaderFields): void {
    this.#end(endOutcome(fields));
  }

  override onEnd(): void {
    this.#end(NO_TRAILERS);
  }

  override onLoss(loss: StreamLoss): void {
    if (loss.kind === 'lost') return this.#end(this.#options.lostOutcome(loss.why));
    this.#end(loss.kind === 'reset' ? resetOutcome(loss.code) : REFUSED);
  }

  /** Cancels the stream: no more messages are handed over, and `ended` is called. */
  end(): void {
    if (this.#over) return;
    this.cancel();
    queueMicrotask(() => this.#end(resetOutcome(CANCEL)));
  }

  #deliver(messages: readonly Buffer[], from: number): void | Promise<void> {
    for (let i = from; i < messages.length; i++) {
      if (this.#over) return;
      const busy = this.#options.take(messages[i] as Buffer);
      if (busy !== undefined) return busy.then(() => this.#deliver(messages, i + 1));
    }
  }

  #waitFor(busy: Promise<void>, bytes: number): void {
    const mine = busy.then(
      () => {
        this.owner?.taken(this, bytes);
        if (this.#tail === mine) this.#tail = undefined;
      },
      (error: unknown) => this.#fail(failureOf(error)),
    );
    this.#tail = mine;
  }

  /** What came before is handed over first. */
  #end(outcome: Outcome): void {
    if (this.#tail !== undefined) void this.#tail.then(() => this.#finish(outcome));
    else this.#finish(outcome);
  }

  #fail(outcome: Outcome): void {
    this.cancel();
    this.#finish(outcome);
  }

  #finish({ status, message }: Outcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.ended(status === 0 ? new NoAnswer() : new GrpcError({ status, message, sent: true }));
  }
}

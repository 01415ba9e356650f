// One call with one answer, as a stream of HTTP/2.
import { append } from '../lib/values/append.js';
import type { Deadline, Deadlines } from '../lib/async/deadlines.js';
import { ClientStream, type StreamLoss } from '../wire/http2/client-stream.js';
import type { HeaderFields } from '../wire/http2/response-heads.js';
import { DEADLINE_EXCEEDED, GrpcError, INTERNAL, NoAnswer, UNKNOWN } from './grpc-error.js';
import { failureOf } from './grpc-failure.js';
import { MessageReader, wholeMessage } from './grpc-messages.js';
import { endOutcome, headFault, NO_TRAILERS, type Outcome, REFUSED, resetOutcome } from './grpc-outcome.js';

const REFUSED_STREAM = 7;
const TWO_ANSWERS: Outcome = {
  status: UNKNOWN,
  message: 'grpc: client streaming protocol violation: get <nil>, want <EOF>',
};
const ENDS_INSIDE: Outcome = { status: INTERNAL, message: 'unexpected EOF' };
const LATE: Outcome = { status: DEADLINE_EXCEEDED, message: 'context deadline exceeded' };

export interface CallOwner {
  readonly deadlines: Deadlines;
  readonly maxMessageBytes: number;
  /** How it went on a connection that ended. */
  lostOutcome(why: string): Outcome;
  /** Retries a call that the server did not process; false when a retry is not possible. */
  again(call: UnaryCall): boolean;
  /** There is an answer, or there will be none. */
  settled(): void;
}

export class UnaryCall extends ClientStream {
  /** A second time. */
  isRepeated = false;
  readonly #call: CallOwner;
  readonly #resolve: (answer: Buffer) => void;
  readonly #reject: (error: GrpcError) => void;
  readonly #deadline: Deadline;
  #encoding = '';
  #answer: Buffer | undefined = undefined;
  #hasTwo = false;
  /** Of a message that does not come in one piece. */
  #reader: MessageReader | undefined = undefined;
  #settled = false;

  constructor(
    readonly message: Buffer,
    {
      method,
      metadata,
      endMs,
      owner,
      resolve,
      reject,
    }: {
      readonly method: string;
      readonly metadata: Readonly<Record<string, string>> | undefined;
      readonly endMs: number;
      readonly owner: CallOwner;
      readonly resolve: (answer: Buffer) => void;
      readonly reject: (error: GrpcError) => void;
    },
  ) {
    super(method, metadata);
    this.finished = true;
    this.#call = owner;
    this.#resolve = resolve;
    this.#reject = reject;
    const now = Date.now();
    this.endMs = endMs;
    this.#deadline = owner.deadlines.set(now, Math.max(1, Math.ceil(endMs - now)), () => this.#giveUp(LATE));
  }

  /** When it is too late. */
  readonly endMs: number;

  override onHead(fields: HeaderFields, ends: boolean): void {
    const fault = headFault(fields);
    if (fault !== undefined) return this.#giveUp(fault);
    this.#encoding = fields['grpc-encoding'] ?? '';
    if (ends) this.#end(endOutcome(fields));
  }

  // hot: once for each answer.
  override onData(piece: Buffer): void {
    this.owner?.taken(this, piece.length);
    const whole = this.#reader === undefined ? wholeMessage(piece, this.#call.maxMessageBytes) : undefined;
    if (whole !== undefined) return this.#took(whole);
    try {
      this.#reader ??= new MessageReader(this.#call.maxMessageBytes);
      this.#reader.encoding = this.#encoding;
      const messages: Buffer[] = [];
      append(messages, this.#reader.take(piece));
      for (const message of messages) this.#took(message);
    } catch (error) {
      this.#giveUp(failureOf(error));
    }
  }

  override onTrailers(fields: HeaderFields): void {
    this.#end(endOutcome(fields));
  }

  override onEnd(): void {
    this.#end(NO_TRAILERS);
  }

  override onLoss(loss: StreamLoss): void {
    if (loss.kind === 'lost') return this.#fail(this.#call.lostOutcome(loss.why), true);
    if (loss.kind === 'reset' && loss.code !== REFUSED_STREAM) return this.#fail(resetOutcome(loss.code), true);
    if (!this.isRepeated && !this.#settled && this.#call.again(this)) {
      this.#settle();
      return;
    }
    const outcome = loss.kind === 'reset' ? resetOutcome(loss.code) : REFUSED;
    this.#fail(outcome, false);
  }

  #took(message: Buffer): void {
    if (this.#answer === undefined) this.#answer = message;
    else this.#hasTwo = true;
  }

  #end(outcome: Outcome): void {
    if (this.#hasTwo) this.#fail(TWO_ANSWERS, true);
    else if (this.#reader?.isInside === true) this.#fail(ENDS_INSIDE, true);
    else if (outcome.status !== 0) this.#fail(outcome, true);
    else if (this.#answer === undefined) this.#failWith(new NoAnswer());
    else if (this.#settle()) this.#resolve(this.#answer);
  }

  #giveUp(why: Outcome): void {
    this.#fail(why, true);
    this.cancel();
  }

  #fail({ status, message }: Outcome, sent: boolean): void {
    this.#failWith(new GrpcError({ status, message, sent }));
  }

  #failWith(error: GrpcError): void {
    if (this.#settle()) this.#reject(error);
  }

  /** False when it was before. */
  #settle(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    this.#call.deadlines.clear(this.#deadline);
    this.#call.settled();
    return true;
  }

  /** The callbacks of the caller, for the call that replaces this one. */
  get waiter(): { readonly resolve: (answer: Buffer) => void; readonly reject: (error: GrpcError) => void } {
    return { resolve: this.#resolve, reject: this.#reject };
  }
}

// One request and its answer on a connection: parses the answer from the received bytes, and hands it to the caller.
import type { Duplex } from 'node:stream';
import type { OutboundResponse, Upgraded } from '../messages.js';
import { OutboundError, StaleConnection } from '../outbound-error.js';
import { AnswerBody, type AnswerSource, BodyReader, WholeBody } from './answer-body.js';
import { HEADS_TOO_LARGE, MAX_HEAD_BYTES, type ResponseHead, responseHeadReader } from './response-head.js';

export interface ExchangeOptions {
  readonly signal: AbortSignal;
  /** The exchange is over: its answer has come whole, or never will. */
  readonly onDone: () => void;
}

interface ExchangeParts extends ExchangeOptions {
  readonly method: string;
  /** The request is one to leave HTTP. */
  readonly allowUpgrade: boolean;
  readonly flow: AnswerSource & { pause(): void };
  readonly resolve: (answer: OutboundResponse | Upgraded) => void;
  readonly reject: (error: OutboundError) => void;
}

/** What is left of the connection when an answer is whole. */
export type Ending =
  | { readonly kind: 'answered'; readonly keepAlive: boolean; readonly keepAliveMs: number }
  | { readonly kind: 'switched'; readonly head: ResponseHead; readonly rest: Buffer };

export class Exchange {
  readonly #heads = responseHeadReader();
  #headBytes = 0;
  #head: ResponseHead | undefined = undefined;
  #reader: BodyReader | undefined = undefined;
  #body: AnswerBody | undefined = undefined;
  #received = false;
  #over = false;
  /** All of the request has been handed to the connection. */
  sent = true;

  constructor(private readonly parts: ExchangeParts) {
    parts.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => {
    this.fail(OutboundError.aborted(this.parts.signal));
    this.parts.flow.abandon();
  };

  /** How the exchange ends, once it does. Throws an OutboundError for what is no answer. */
  feed(bytes: Buffer): Ending | undefined {
    this.#received = true;
    return this.#reader === undefined ? this.#feedHead(bytes) : this.#feedBody(this.#reader, bytes);
  }

  #feedHead(bytes: Buffer): Ending | undefined {
    for (let rest = bytes; rest.length > 0;) {
      const found = this.#heads.take(rest);
      if (found === undefined) return undefined;
      const { head } = found;
      if (head instanceof OutboundError) throw this.#unread(head);
      ({ rest } = found);
      this.#headBytes += found.bytes;
      if (this.#headBytes > MAX_HEAD_BYTES) throw broken(HEADS_TOO_LARGE);
      if (head.status >= 200 || head.status < 100) return this.#begin(head, rest);
      if (head.status === 101) {
        if (!this.parts.allowUpgrade) throw new OutboundError('protocol', 'unexpected upgrade');
        return { kind: 'switched', head, rest };
      }
      // What a server says on its way to the answer is nobody's concern, but for how much it is.
    }
    return undefined;
  }

  // hot: nearly all answers come whole, with their heads.
  #begin(head: ResponseHead, rest: Buffer): Ending | undefined {
    const reader = new BodyReader(this.parts.method === 'HEAD' ? NO_BODY : head.framing);
    const { status, headers, rawHeaders } = head;
    this.#head = head;
    this.#reader = reader;
    const pieces: Buffer[] = [];
    const taken = rest.length === 0 ? 0 : reader.feed(rest, (piece) => pieces.push(piece));
    if (reader.ended) {
      const [only] = pieces;
      const whole = new WholeBody(pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces));
      this.parts.resolve({ status, headers, rawHeaders, body: whole, trailers: reader.trailers });
      return this.#answered(head, rest.length - taken);
    }
    const body = new AnswerBody(this.parts.flow);
    this.#body = body;
    for (const piece of pieces) this.#push(body, piece);
    this.parts.resolve({ status, headers, rawHeaders, body, trailers: reader.trailers });
    return undefined;
  }

  #feedBody(reader: BodyReader, bytes: Buffer): Ending | undefined {
    const body = this.#body as AnswerBody;
    const taken = reader.feed(bytes, (piece) => this.#push(body, piece));
    return reader.ended ? this.#answered(this.#head as ResponseHead, bytes.length - taken) : undefined;
  }

  #push(body: AnswerBody, piece: Buffer): void {
    if (!body.push(piece)) this.parts.flow.pause();
  }

  #answered({ keepAlive, headers }: ResponseHead, strayBytes: number): Ending {
    this.#release();
    this.#body?.finish();
    // A server that answered without reading the request would parse the rest of it as another request, and bytes after an
    // answer would pass for the next answer.
    const usable = keepAlive && strayBytes === 0 && this.sent;
    return { kind: 'answered', keepAlive: usable, keepAliveMs: keepAliveOf(headers['keep-alive']) };
  }

  /** The connection is the caller's from here on. */
  switched({ headers, rawHeaders }: ResponseHead, socket: Duplex, head: Buffer): void {
    this.#release();
    this.parts.resolve({ status: 101, headers, rawHeaders, socket, head });
  }

  /** The server will send no more. `reused`: it had answered on this connection before. */
  ended(reused: boolean, cause?: Error): void {
    if (this.#head?.framing.kind === 'close' && cause === undefined) {
      this.#release();
      this.#body?.finish();
    } else if (!this.#received && reused) this.fail(new StaleConnection(cause));
    else this.fail(cause === undefined ? this.#eof() : OutboundError.from(cause));
  }

  /** A server of another protocol (a TLS server that gets plain HTTP) often sends a few bytes and closes. */
  #eof(): OutboundError {
    const wrong = this.#heads.faultOfCutLine();
    if (wrong instanceof OutboundError) return this.#unread(wrong);
    const isInHead = this.#received && this.#head === undefined;
    return isInHead ? this.#unread(eof(true)) : eof(this.#received);
  }

  #unread(fault: OutboundError): OutboundError {
    return this.parts.allowUpgrade ? fault : broken(fault);
  }

  fail(error: OutboundError): void {
    if (this.#over) return;
    this.#release();
    this.parts.reject(error);
    this.#body?.fail(error);
  }

  #release(): void {
    if (this.#over) return;
    this.#over = true;
    this.parts.signal.removeEventListener('abort', this.#onAbort);
    this.parts.onDone();
  }
}

const NO_BODY = { kind: 'none' } as const;

const broken = (error: OutboundError): OutboundError =>
  new OutboundError('protocol', `net/http: HTTP/1.x transport connection broken: ${error.message}`, error);

const eof = (received: boolean): OutboundError => new OutboundError('protocol', received ? 'unexpected EOF' : 'EOF');

/** How long the server says that it waits for the next request (`timeout=5`); for ever when it does not say. */
function keepAliveOf(hint: string | undefined): number {
  const seconds = hint === undefined ? undefined : /(?:^|[,; ])timeout=(\d{1,6})/.exec(hint)?.[1];
  return seconds === undefined ? Infinity : Number(seconds) * 1000;
}

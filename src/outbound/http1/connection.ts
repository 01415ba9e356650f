// One connection to a server that speaks HTTP/1.1: a request, its answer, the next request.
//
// Unsolicited bytes end the connection: they would pass for the answer to the next request.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { OutboundRequest, OutboundResponse, Upgraded } from '../messages.js';
import { OutboundError } from '../outbound-error.js';
import { type Ending, Exchange, type ExchangeOptions } from './exchange.js';
import { isWhole, requestHead, type WrittenHead } from './request-head.js';
import { sendStream } from './send-stream.js';

/** Bodies up to this size go along with their heads in one piece. */
const JOINED_BYTES = 64 * 1024;

export interface ConnectionOwner {
  /** The connection can be used again; the server keeps it open for `keepAliveMs`. */
  idle(connection: Http1Connection, keepAliveMs: number): void;
  /** The connection cannot be used again. Called once. */
  gone(connection: Http1Connection): void;
}

export class Http1Connection {
  readonly #socket: Duplex;
  readonly #owner: ConnectionOwner;
  #exchange: Exchange | undefined = undefined;
  #used = false;
  #gone = false;

  constructor(socket: Duplex, owner: ConnectionOwner) {
    this.#socket = socket;
    this.#owner = owner;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('error', this.#onError);
    socket.on('close', this.#onEnd);
  }

  get usable(): boolean {
    return !this.#gone && this.#exchange === undefined && this.#socket.writable;
  }

  /** Does not keep the process alive until it is used again. */
  rest(): void {
    (this.#socket as Partial<Socket>).unref?.();
  }

  close(): void {
    if (!this.#gone) {
      this.#gone = true;
      this.#owner.gone(this);
    }
    this.#socket.destroy();
  }

  /** Rejects with an OutboundError. Only while `usable`. */
  exchange(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResponse> {
    return this.#begin(request, options, false) as Promise<OutboundResponse>;
  }

  /** As `exchange`, with a request to leave HTTP. */
  upgrade(request: OutboundRequest, options: ExchangeOptions): Promise<OutboundResponse | Upgraded> {
    return this.#begin(request, options, true);
  }

  #begin(
    request: OutboundRequest,
    options: ExchangeOptions,
    allowUpgrade: boolean,
  ): Promise<OutboundResponse | Upgraded> {
    return new Promise((resolve, reject) => {
      const written = this.#headOf(request);
      if (written instanceof OutboundError) return reject(written);
      const parts = { method: request.method, allowUpgrade, flow: this.#flow, resolve, reject, ...options };
      const exchange = new Exchange(parts);
      this.#exchange = exchange;
      (this.#socket as Partial<Socket>).ref?.();
      if (options.signal.aborted) return this.#fail(OutboundError.aborted(options.signal));
      this.#send(exchange, request.body, written);
    });
  }

  /** What cannot be sent leaves the connection as it was. */
  #headOf(request: OutboundRequest): WrittenHead | OutboundError {
    try {
      return requestHead(request);
    } catch (error) {
      this.#owner.idle(this, Infinity);
      return OutboundError.from(error);
    }
  }

  readonly #flow = {
    pause: (): void => void this.#socket.pause(),
    resume: (): void => void this.#socket.resume(),
    abandon: (): void => this.#fail(new OutboundError('canceled', 'http: the answer is not read any further')),
  };

  // hot: a head and a body in one write are one record under TLS.
  #send(exchange: Exchange, body: OutboundRequest['body'], { text: head, statedBytes }: WrittenHead): void {
    const socket = this.#socket;
    if (body === undefined) socket.write(head, 'latin1');
    else if (!isWhole(body)) {
      exchange.sent = false;
      socket.write(head, 'latin1');
      sendStream(body, socket, statedBytes).then(
        () => (exchange.sent = true),
        (error: unknown) => this.#failExchange(exchange, OutboundError.from(error)),
      );
    } else if (statedBytes !== undefined && statedBytes <= JOINED_BYTES) {
      const bytes = Buffer.allocUnsafe(head.length + statedBytes);
      bytes.write(head, 0, 'latin1');
      if (typeof body === 'string') bytes.write(body, head.length, 'utf8');
      else body.copy(bytes, head.length);
      socket.write(bytes);
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body);
      socket.uncork();
    }
  }

  readonly #onData = (bytes: Buffer): void => {
    const exchange = this.#exchange;
    if (exchange === undefined) return this.close();
    let ending: Ending | undefined;
    try {
      ending = exchange.feed(bytes);
    } catch (error) {
      return this.#fail(OutboundError.from(error));
    }
    if (ending === undefined) return;
    this.#exchange = undefined;
    if (ending.kind === 'switched') return this.#handOver(exchange, ending);
    this.#used = true;
    if (!ending.keepAlive || !this.usable) return this.close();
    this.#socket.resume();
    this.#owner.idle(this, ending.keepAliveMs);
  };

  #handOver(exchange: Exchange, { head, rest }: Extract<Ending, { kind: 'switched' }>): void {
    const socket = this.#socket;
    this.#gone = true;
    this.#owner.gone(this);
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('error', this.#onError);
    socket.off('close', this.#onEnd);
    // As if nobody had ever read: a stream that was paused would stay so when someone begins to listen.
    socket.pause();
    (socket as { readableFlowing: boolean | null }).readableFlowing = null;
    exchange.switched(head, socket, rest);
  }

  readonly #onEnd = (): void => this.#end();
  readonly #onError = (error: Error): void => this.#end(error);

  #end(cause?: Error): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.ended(this.#used, cause);
    this.close();
  }

  #failExchange(exchange: Exchange, error: OutboundError): void {
    if (this.#exchange === exchange) this.#fail(error);
  }

  #fail(error: OutboundError): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    exchange?.fail(error);
    this.close();
  }
}

// A proxy that speaks gRPC over a unix socket: each connection is a stream of its own, on a session of its own.
import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';
import { addressOf, type DialTarget } from '../outbound/dialer.js';
import { GrpcConnection, type GrpcStream } from '../outbound/grpc.js';
import { GrpcError, NoAnswer } from '../outbound/grpc-error.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { grpcStatusName } from '../outbound/lazy-grpc.js';
import type { Proxy } from './proxy.js';
import type { DialFailureReason, TunnelObserver, TunnelState } from './metrics.js';
import {
  closeRequest,
  data,
  dialClose,
  dialRequest,
  type PacketType,
  readPacket,
  type ReceivedPacket,
  TUNNEL_METHOD,
} from './tunnel-packets.js';

const DIAL_TIMEOUT_MS = 30_000;
/** How long the far side may take to answer that we are done. */
const CLOSE_TIMEOUT_MS = 10_000;
/** A packet carries at most this much; larger writes are cut. */
const MAX_DATA_BYTES = 1 << 16;
const OPTIONS = { maxMessageBytes: 4 * 1024 * 1024 };

export function grpcProxy(unixPath: string, observe: TunnelObserver): Proxy {
  return {
    labels: { protocol: 'grpc', transport: 'uds' },
    async connect() {
      try {
        const connection = await GrpcConnection.open({ unixPath, authority: encodeURIComponent(unixPath) }, OPTIONS);
        return { tunnel: (target, signal) => Tunnel.dial(connection, target, observe, signal) };
      } catch (error) {
        if (error instanceof GrpcError) throw new OutboundError('dial', error.message, error);
        throw error;
      }
    },
  };
}

/** One connection through the tunnel. Bytes are read only as fast as they are consumed. */
class Tunnel extends Duplex {
  readonly #connection: GrpcConnection;
  readonly #stream: GrpcStream;
  readonly #observe: TunnelObserver;
  readonly #random = randomBytes(8).readBigUInt64BE() >> 1n;
  #state: TunnelState = 'created';
  #connectId = 0n;
  /** Until the far side is there. */
  #dialed: { resolve(): void; reject(error: OutboundError): void } | undefined;
  /** Set while nobody reads: the stream goes on when it is called. */
  #resume: (() => void) | undefined;

  static dial(
    connection: GrpcConnection,
    target: DialTarget,
    observe: TunnelObserver,
    signal: AbortSignal,
  ): Promise<Duplex> {
    const tunnel = new Tunnel(connection, observe);
    return tunnel.#dial(addressOf(target), signal);
  }

  private constructor(connection: GrpcConnection, observe: TunnelObserver) {
    super();
    this.#connection = connection;
    this.#observe = observe;
    this.#stream = connection.stream(
      TUNNEL_METHOD,
      (message) => this.#receive(readPacket(message)),
      (error) => {
        if (!this.#ended && !(error instanceof NoAnswer)) observe.streamFailed(grpcStatusName(error.status));
        this.#lost();
      },
    );
    observe.moved(undefined, this.#state);
  }

  #dial(address: string, signal: AbortSignal): Promise<Duplex> {
    return new Promise((resolve, reject) => {
      const giveUp = (reason: DialFailureReason, error: OutboundError): void => {
        settle();
        this.#send('DIAL_CLS', dialClose(this.#random));
        this.#observe.dialFailed(reason);
        this.#end();
        reject(error);
      };
      const timer = setTimeout(
        () => giveUp('timeout', new OutboundError('timeout', 'dial timeout, backstop')),
        DIAL_TIMEOUT_MS,
      );
      const onAbort = (): void => giveUp('context', new OutboundError('timeout', 'dial timeout, context'));
      const settle = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        this.#dialed = undefined;
      };
      this.#dialed = {
        resolve: () => {
          settle();
          this.#move('ok');
          resolve(this);
        },
        reject: (error) => {
          settle();
          this.#end();
          reject(error);
        },
      };
      this.#move('dialing');
      this.#send('DIAL_REQ', dialRequest(address, this.#random));
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
    });
  }

  #receive(packet: ReceivedPacket): void | Promise<void> {
    if (packet.type !== undefined) this.#observe.packet('to_client', packet.type);
    switch (packet.type) {
      case 'DIAL_RSP':
        // Whoever answers another dial, or twice, is not to be followed further.
        if (this.#dialed === undefined || packet.random !== this.#random) return this.#lost();
        if (packet.error !== '') return this.#refused('endpoint', packet.error);
        this.#connectId = packet.connectId;
        this.#dialed.resolve();
        return;
      case 'DIAL_CLS':
        if (this.#dialed !== undefined) this.#refused('dialclosed', 'dial closed');
        else this.#end();
        return;
      case 'DATA':
        if (packet.connectId === 0n) return;
        if (packet.connectId !== this.#connectId) {
          this.#send('CLOSE_REQ', closeRequest(packet.connectId));
          return;
        }
        if (this.push(packet.data)) return;
        return new Promise((resolve) => (this.#resume = resolve));
      case 'CLOSE_RSP':
        if (packet.connectId !== this.#connectId) return;
        this.push(null);
        this.#end();
        return;
      default:
        return;
    }
  }

  #refused(reason: DialFailureReason, message: string): void {
    this.#observe.dialFailed(reason);
    this.#dialed?.reject(new OutboundError('dial', message));
  }

  /** The stream is over, whoever ended it. */
  #lost(): void {
    if (this.#ended) return;
    if (this.#dialed !== undefined) this.#refused('tunnelclosed', 'tunnel closed');
    else if (!this.destroyed && this.#state !== 'closing') this.push(null);
    this.#end();
  }

  #send(type: PacketType, bytes: Buffer): boolean {
    this.#observe.packet('from_client', type);
    return this.#stream.send(bytes);
  }

  #move(state: TunnelState): void {
    this.#observe.moved(this.#state, state);
    this.#state = state;
  }

  #ended = false;

  /** Releases the session: nothing more comes. */
  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#observe.moved(this.#state, undefined);
    this.#resume?.();
    this.#stream.close();
    this.#connection.close();
  }

  // The members of a socket that connection pools use. There is no socket here: its timers and options are the proxy's.
  setKeepAlive = (): this => this;
  setNoDelay = (): this => this;
  setTimeout = (): this => this;
  ref = (): this => this;
  unref = (): this => this;

  override _read(): void {
    const resume = this.#resume;
    this.#resume = undefined;
    resume?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    let room = true;
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      room = this.#send('DATA', data(this.#connectId, chunk.subarray(at, at + MAX_DATA_BYTES)));
    }
    if (room) done();
    else this.#stream.onceDrained(() => done());
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#close();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#close();
    done(error);
  }

  #close(): void {
    if (this.#ended || this.#state !== 'ok') return;
    this.#move('closing');
    this.#resume?.();
    this.#send('CLOSE_REQ', closeRequest(this.#connectId));
    setTimeout(() => this.#end(), CLOSE_TIMEOUT_MS).unref();
  }
}

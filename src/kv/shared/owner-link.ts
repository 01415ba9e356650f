// A replica's connection to the process that has the store: opened again whenever it is lost, with the calls on it and the lease.
import type { Duplex } from 'node:stream';
import type { Clock } from '../../lib/async/clock.js';
import { TransientMap } from '../../lib/values/transient-map.js';
import { KvError } from '../kv.js';
import { type FrameReader, FrameStream, type FrameWriter } from './frames.js';
import { LEASE_MS, RENEW_EVERY_MS } from './lease.js';
import { readError, TO_OWNER, TO_REPLICA } from './messages.js';

/** Longer than any request may take: an owner that hangs is replaced, which ends the connection. */
const CALL_TIMEOUT_MS = 60_000;
const RECONNECT_MS = 20;

export interface OwnerLinkOptions {
  readonly connect: () => Promise<Duplex>;
  readonly pid: number;
  readonly clock: Clock;
  /** What the replica has handed to its watches. */
  readonly released: () => number;
  /** Messages that are neither grants nor answers. */
  readonly receive: (frame: FrameReader) => void;
  /** After those that came together. */
  readonly received: () => void;
  readonly lost: () => void;
}

interface OpenCall extends OwnerCall<unknown> {
  readonly id: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: KvError) => void;
  readonly cancelTimeout: () => void;
}

export interface OwnerCall<T> {
  /** Writes the method and its arguments. */
  readonly write: (out: FrameWriter) => void;
  readonly read: (frame: FrameReader) => T;
  /** It is sent again where the connection was lost before its answer came. */
  readonly isRepeatable: boolean;
}

export class OwnerLink {
  readonly #options: OwnerLinkOptions;
  readonly #clock: Clock;
  /** Sent, or to be sent when there is a connection. */
  readonly #calls = new TransientMap<number, OpenCall>();
  #frames: FrameStream | undefined;
  #stream: Duplex | undefined;
  /** The replica has been welcomed on this connection. */
  #isWelcome = false;
  #lastCall = 0;
  #renewal = 0;
  #renewalSentMs = 0;
  /** The owner has not answered the last request for a lease. */
  #isRenewing = false;
  #leaseUntilMs = 0;
  #cancelRenewing = (): void => undefined;
  #onGranted: (() => void)[] = [];
  #isClosed = false;

  constructor(options: OwnerLinkOptions) {
    this.#options = options;
    this.#clock = options.clock;
    void this.#connect();
  }

  // hot: every consistent read
  /** What has been received is all that anybody may know of. */
  get hasLease(): boolean {
    return this.#leaseUntilMs > 0 && this.#clock.now() < this.#leaseUntilMs;
  }

  /** Fulfilled when there is a lease. */
  whenLeased(): Promise<void> {
    if (this.hasLease) return Promise.resolve();
    this.#renewNow();
    return new Promise((resolve) => this.#onGranted.push(resolve));
  }

  /** The owner answers the first message with `welcome` or `tooOld`. */
  hello(revision: number): void {
    this.#isWelcome = false;
    this.#frames?.send(TO_OWNER.hello, (out) => {
      out.number(this.#options.pid);
      out.number(revision);
    });
  }

  welcome(): void {
    this.#isWelcome = true;
    for (const { id, write } of this.#calls.values()) this.#send(id, write);
    this.#renewNow();
  }

  /** Answers the id of the call, too: an event may name it. */
  // hot: every write
  call<T>({ write, read, isRepeatable }: OwnerCall<T>): { readonly id: number; readonly result: Promise<T> } {
    const id = ++this.#lastCall;
    if (this.#isClosed) return { id, result: Promise.reject(new KvError('closed', 'the store is closed')) };
    const result = new Promise<T>((resolve, reject) => {
      const cancelTimeout = this.#clock.after(CALL_TIMEOUT_MS, () => {
        if (this.#calls.delete(id)) reject(unavailable('it did not answer in time'));
      });
      this.#calls.set(id, { id, write, read, isRepeatable, resolve, reject, cancelTimeout });
    });
    if (this.#isWelcome) this.#send(id, write);
    return { id, result };
  }

  acknowledge(revision: number): void {
    this.#frames?.send(TO_OWNER.acknowledge, (out) => out.number(revision));
    this.#frames?.flush();
  }

  close(): void {
    this.#isClosed = true;
    this.#lost();
    for (const { reject, cancelTimeout } of this.#calls.values()) {
      cancelTimeout();
      reject(new KvError('closed', 'the store is closed'));
    }
    this.#calls.clear();
  }

  #send(id: number, write: (out: FrameWriter) => void): void {
    this.#frames?.send(TO_OWNER.call, (out) => {
      out.number(id);
      write(out);
    });
  }

  async #connect(): Promise<void> {
    try {
      const stream = await this.#options.connect();
      if (this.#isClosed) return void stream.destroy();
      this.#stream = stream;
      stream.on('error', () => undefined);
      stream.on('close', () => {
        if (this.#stream !== stream) return;
        this.#lost();
        this.#connectLater();
      });
      this.#frames = new FrameStream(stream, (frame) => this.#receive(frame), this.#options.received);
      this.hello(this.#options.released());
      this.#keepRenewing();
    } catch {
      this.#connectLater();
    }
  }

  #connectLater(): void {
    if (!this.#isClosed) this.#clock.after(RECONNECT_MS, () => void this.#connect());
  }

  /** No consistent read is answered from now on, before the owner can see the end of the connection. */
  #lost(): void {
    this.#leaseUntilMs = 0;
    this.#isWelcome = false;
    this.#isRenewing = false;
    this.#renewal++;
    this.#frames = undefined;
    this.#cancelRenewing();
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.destroy();
    for (const { id, isRepeatable, reject, cancelTimeout } of this.#calls.values()) {
      if (isRepeatable) continue;
      cancelTimeout();
      this.#calls.delete(id);
      reject(unavailable('it ended; the write may or may not have happened'));
    }
    this.#options.lost();
  }

  #receive(frame: FrameReader): void {
    if (frame.type === TO_REPLICA.answer) return this.#answered(frame);
    if (frame.type === TO_REPLICA.grant) return this.#granted(frame.number());
    this.#options.receive(frame);
  }

  #answered(frame: FrameReader): void {
    const id = frame.number();
    const call = this.#calls.get(id);
    if (call === undefined) return;
    this.#calls.delete(id);
    call.cancelTimeout();
    if (frame.number() === 1) call.resolve(call.read(frame) as never);
    else call.reject(readError(frame));
  }

  #granted(renewal: number): void {
    if (renewal !== this.#renewal) return;
    this.#isRenewing = false;
    this.#leaseUntilMs = this.#renewalSentMs + LEASE_MS;
    if (!this.hasLease) return this.#renewNow();
    const waiting = this.#onGranted;
    this.#onGranted = [];
    for (const resolve of waiting) resolve();
  }

  #renewNow(): void {
    if (!this.#isWelcome || this.#isRenewing) return;
    this.#isRenewing = true;
    this.#renewal++;
    this.#renewalSentMs = this.#clock.now();
    this.#frames?.send(TO_OWNER.renew, (out) => out.number(this.#renewal));
    this.#frames?.flush();
  }

  #keepRenewing(): void {
    this.#cancelRenewing = this.#clock.after(RENEW_EVERY_MS, () => {
      this.#renewNow();
      this.#keepRenewing();
    });
  }
}

export const unavailable = (why: string): KvError =>
  new KvError('unavailable', `the process that has the store cannot be asked: ${why}`);

// All watches of one etcd, on one stream. When the stream is lost, a new one goes on where each watch was.
import { errorText } from '../../lib/error-text.js';
import { compacted, KvError, type KvEvent, type KvWatch, type KvWatchReceiver, prefixEnd } from '../kv.js';
import { kvError, METHODS } from './client.js';
import type { Endpoints } from './endpoints.js';
import { type GrpcStream } from '../../outbound/grpc.js';
import { GrpcError } from '../../outbound/grpc-error.js';
import {
  decodeWatch,
  encodeWatchCancel,
  encodeWatchCreate,
  encodeWatchProgress,
  type EtcdEvent,
  type EtcdWatchAnswer,
} from './messages.js';

const RECONNECT_MIN_MS = 50;
const RECONNECT_MAX_MS = 2_000;
const NO_BYTES = Buffer.alloc(0);

interface RunningWatch {
  readonly id: number;
  readonly prefix: string;
  readonly previous: boolean;
  readonly receiver: KvWatchReceiver;
  /** The first revision that has not been handed over. */
  nextRevision: number;
  created: boolean;
}

export class EtcdWatches {
  readonly #endpoints: Endpoints;
  readonly #log: ((message: string) => void) | undefined;
  readonly #running = new Map<number, RunningWatch>();
  #lastId = 0;
  #stream: GrpcStream | undefined;
  #connecting = false;
  #pauseMs = RECONNECT_MIN_MS;
  #closed = false;

  constructor(endpoints: Endpoints, log: ((message: string) => void) | undefined) {
    this.#endpoints = endpoints;
    this.#log = log;
  }

  add(prefix: string, startRevision: number, previous: boolean, receiver: KvWatchReceiver): KvWatch {
    const watch: RunningWatch = {
      id: ++this.#lastId,
      prefix,
      previous,
      receiver,
      nextRevision: startRevision,
      created: false,
    };
    this.#running.set(watch.id, watch);
    if (this.#stream !== undefined) this.#create(this.#stream, watch);
    else void this.#connect();
    return {
      cancel: () => {
        if (this.#running.delete(watch.id)) this.#stream?.send(encodeWatchCancel(watch.id));
      },
    };
  }

  /** The answer tells how far all watches of the stream are. */
  requestProgress(): void {
    this.#stream?.send(encodeWatchProgress());
  }

  close(): void {
    this.#closed = true;
    this.#stream?.close();
    const error = new KvError('closed', 'the store is closed');
    for (const watch of this.#running.values()) watch.receiver.failed(error);
    this.#running.clear();
  }

  async #connect(): Promise<void> {
    if (this.#connecting || this.#closed) return;
    this.#connecting = true;
    try {
      const connection = await this.#endpoints.connection();
      if (this.#closed) return;
      const stream = connection.stream(
        METHODS.watch,
        (message) => this.#take(decodeWatch(message)),
        (error) => this.#lost(stream, error),
        // A server cut off from the others would show nothing new for ever; told so, it ends the stream.
        { hasleader: 'true' },
      );
      this.#stream = stream;
      for (const watch of this.#running.values()) this.#create(stream, watch);
    } catch (error) {
      this.#reconnectLater(error);
    } finally {
      this.#connecting = false;
    }
  }

  #create(stream: GrpcStream, { id, prefix, nextRevision, previous }: RunningWatch): void {
    stream.send(
      encodeWatchCreate({ watchId: id, key: prefix, end: prefixEnd(prefix), startRevision: nextRevision, previous }),
    );
  }

  #lost(stream: GrpcStream, error: GrpcError): void {
    if (this.#stream !== stream) return;
    this.#stream = undefined;
    for (const watch of this.#running.values()) watch.created = false;
    if (!this.#closed && this.#running.size > 0) this.#reconnectLater(error);
  }

  #reconnectLater(error: unknown): void {
    if (this.#closed) return;
    this.#log?.(`the watch of etcd was lost, resuming: ${errorText(error)}`);
    setTimeout(() => void this.#connect(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, RECONNECT_MAX_MS);
  }

  #take(answer: EtcdWatchAnswer): void | Promise<void> {
    this.#pauseMs = RECONNECT_MIN_MS;
    if (answer.watchId === -1) {
      for (const watch of this.#running.values()) if (watch.created) progress(watch, answer.revision);
      return;
    }
    const watch = this.#running.get(answer.watchId);
    if (watch === undefined) return;
    if (answer.canceled) {
      this.#canceled(watch, answer);
      return;
    }
    if (answer.created) {
      watch.created = true;
      return;
    }
    if (answer.events.length === 0) {
      progress(watch, answer.revision);
      return;
    }
    const events = answer.events.map(kvEvent).filter(({ revision }) => revision >= watch.nextRevision);
    const last = events[events.length - 1];
    if (last === undefined) return;
    watch.nextRevision = last.revision + 1;
    return watch.receiver.events(events);
  }

  #canceled(watch: RunningWatch, { compactRevision, cancelReason }: EtcdWatchAnswer): void {
    if (compactRevision > 0) {
      this.#running.delete(watch.id);
      watch.receiver.failed(compacted(watch.nextRevision, compactRevision));
      return;
    }
    const error = kvError(new GrpcError({ status: 14, message: cancelReason || 'the watch was canceled', sent: true }));
    if (error.code === 'denied' || cancelReason.includes('permission denied')) {
      this.#running.delete(watch.id);
      watch.receiver.failed(error);
      return;
    }
    // Anything else passes (a server without a leader, say): the whole stream starts anew.
    this.#stream?.close();
  }
}

function progress(watch: RunningWatch, revision: number): void {
  if (revision < watch.nextRevision - 1) return;
  watch.nextRevision = revision + 1;
  watch.receiver.progress(revision);
}

const kvEvent = ({ type, kv, previous }: EtcdEvent): KvEvent => ({
  type,
  key: kv.key,
  revision: kv.modRevision,
  value: type === 'put' ? kv.value : NO_BYTES,
  createRevision: type === 'put' ? kv.createRevision : 0,
  previous,
});

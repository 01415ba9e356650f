// All watches of one etcd, on one stream to each member that answers. When a stream is lost, or its member stops
// answering, its watches go on where they were, on other streams.
import type { Logger } from '../../lib/telemetry/log.js';
import type { Clock } from '../../lib/async/clock.js';
import { errorText } from '../../lib/text/error-text.js';
import { KvError, type KvWatch, type KvWatchReceiver } from '../kv.js';
import type { Endpoints } from './endpoints.js';
import type { Member } from './member.js';
import type { WatchedKeys } from './shared-watches.js';
import { type RunningWatch, WatchStream, type WatchStreamOwner } from './watch-stream.js';

const RECONNECT_MIN_MS = 50;
const RECONNECT_MAX_MS = 2_000;

export class EtcdWatches implements WatchStreamOwner {
  readonly #endpoints: Endpoints;
  readonly #clock: Clock;
  readonly #log: Logger | undefined;
  readonly #running = new Map<number, RunningWatch>();
  /** Of `#running`, those that are on no stream. */
  readonly #unplaced = new Set<RunningWatch>();
  readonly #streams = new Map<Member, WatchStream>();
  #lastId = 0;
  #placing = false;
  #progressRequested = false;
  #pauseMs = RECONNECT_MIN_MS;
  #closed = false;

  constructor(endpoints: Endpoints, clock: Clock, log: Logger | undefined) {
    this.#endpoints = endpoints;
    this.#clock = clock;
    this.#log = log;
    endpoints.onSilent = (member) => this.#leave(member);
    endpoints.onAnswers = () => this.#spread();
  }

  add({ prefix, startRevision, previous }: WatchedKeys, receiver: KvWatchReceiver): KvWatch {
    const watch: RunningWatch = {
      id: ++this.#lastId,
      prefix,
      previous,
      receiver,
      nextRevision: startRevision,
      busy: undefined,
    };
    this.#running.set(watch.id, watch);
    this.#unplaced.add(watch);
    void this.#place();
    return {
      cancel: () => {
        this.#running.delete(watch.id);
        this.#unplaced.delete(watch);
        for (const stream of this.#streams.values()) if (stream.cancel(watch.id)) return;
      },
    };
  }

  /** Calls within one turn of the event loop share one request. */
  requestProgress(): void {
    if (this.#progressRequested) return;
    this.#progressRequested = true;
    // Requests are flushed at the end of the event-loop turn.
    setImmediate(() => (this.#progressRequested = false));
    for (const stream of this.#streams.values()) stream.requestProgress();
  }

  close(): void {
    this.#closed = true;
    for (const stream of this.#streams.values()) stream.close();
    const error = new KvError('closed', 'the store is closed');
    for (const watch of this.#running.values()) watch.receiver.failed(error);
    this.#running.clear();
    this.#unplaced.clear();
  }

  answered(): void {
    this.#pauseMs = RECONNECT_MIN_MS;
  }

  failed(watch: RunningWatch, error: KvError): void {
    this.#running.delete(watch.id);
    watch.receiver.failed(error);
  }

  lost(stream: WatchStream, error: unknown): void {
    this.#forget(stream);
    if (this.#unplaced.size > 0) this.#placeLater(error);
  }

  /** A member that does not answer keeps its watches only where no other does. */
  #leave(member: Member): void {
    const stream = this.#streams.get(member);
    if (stream === undefined || this.#endpoints.answering().includes(member)) return;
    stream.close();
    this.#forget(stream);
    if (this.#unplaced.size === 0) return;
    this.#log?.info(`${member.url} does not answer: its ${this.#unplaced.size} watches go on with other members`);
    void this.#place();
  }

  /** Moves a share of the watches to a member that came up. */
  #spread(): void {
    const members = this.#endpoints.answering().length;
    if (members < 2 || this.#streams.size === 0) return;
    const share = Math.ceil(this.#running.size / members);
    for (const stream of this.#streams.values()) {
      for (const watch of [...stream.watches].slice(share)) {
        stream.cancel(watch.id);
        this.#unplaced.add(watch);
      }
    }
    if (this.#unplaced.size > 0) void this.#place();
  }

  #forget(stream: WatchStream): void {
    for (const [member, other] of this.#streams) if (other === stream) this.#streams.delete(member);
    for (const watch of stream.watches) this.#unplaced.add(watch);
  }

  async #place(): Promise<void> {
    if (this.#placing || this.#closed) return;
    this.#placing = true;
    try {
      await this.#endpoints.member();
      for (const watch of this.#unplaced) {
        if (this.#closed) return;
        this.#emptiest().add(watch);
        this.#unplaced.delete(watch);
      }
    } catch (error) {
      this.#placeLater(error);
    } finally {
      this.#placing = false;
    }
  }

  #placeLater(error: unknown): void {
    if (this.#closed) return;
    this.#log?.info(`the watch of etcd was lost, resuming: ${errorText(error)}`);
    this.#clock.after(this.#pauseMs, () => void this.#place());
    this.#pauseMs = Math.min(this.#pauseMs * 2, RECONNECT_MAX_MS);
  }

  /** The stream with the fewest watches of those to members that answer. */
  #emptiest(): WatchStream {
    const size = (member: Member): number => this.#streams.get(member)?.size ?? 0;
    const [member] = this.#endpoints.answering().toSorted((a, b) => size(a) - size(b));
    const connection = member?.connection;
    if (member === undefined || connection === undefined) throw new KvError('unavailable', 'no member of etcd answers');
    const known = this.#streams.get(member);
    if (known !== undefined) return known;
    const stream = new WatchStream(connection, this);
    this.#streams.set(member, stream);
    return stream;
  }
}

// Converts large bodies in a thread of its own, which is started when there is one to convert and ends when there was none
// for a while: a server that meets none has neither its memory nor its start.
import { Worker } from 'node:worker_threads';
import { type Conversion, type Converted, type Converter, inThisThread } from '../rest/convert-bytes.js';

export interface ConversionWorkerOptions {
  /** The thread's program. */
  readonly file: string;
  readonly idleMs?: number;
  readonly log: { warning(text: string): void };
}

/** With the id 0 that the thread is up. */
export interface ThreadAnswer {
  readonly id: number;
  readonly converted?: Converted;
  readonly failed?: string;
}

interface Waiting {
  readonly resolve: (converted: Converted | PromiseLike<Converted>) => void;
  readonly reject: (error: Error) => void;
  readonly conversion: Conversion;
}

const IDLE_MS = 10_000;

export class ConversionWorker implements Converter {
  #worker: Worker | undefined;
  #lastId = 0;
  readonly #waiting = new Map<number, Waiting>();
  #idle: NodeJS.Timeout | undefined;

  constructor(private readonly options: ConversionWorkerOptions) {}

  convert(conversion: Conversion): Promise<Converted> {
    clearTimeout(this.#idle);
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    const id = ++this.#lastId;
    // A copy of its own: the bytes may lie in memory that is shared or mapped, and goes over whole.
    const bytes = new Uint8Array(conversion.bytes);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject, conversion });
      worker.postMessage({ id, conversion: { ...conversion, bytes } }, [bytes.buffer]);
    });
  }

  #start(): Worker {
    const worker = new Worker(this.options.file, { name: 'convert' });
    let isUp = false;
    worker.once('message', () => (isUp = true));
    worker.on('message', (answer: ThreadAnswer) => this.#answered(answer));
    worker.on('error', (error) => this.#lost(worker, isUp, error));
    worker.on('exit', () => this.#lost(worker, isUp, new Error('the thread ended')));
    return worker;
  }

  #answered({ id, converted, failed }: ThreadAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (converted !== undefined) waiting?.resolve(converted);
    else waiting?.reject(new Error(`a body could not be converted: ${failed}`));
    if (this.#waiting.size > 0) return;
    // A thread that nobody waits for does not keep the process.
    this.#worker?.unref();
    this.#idle = setTimeout(() => this.#end(), this.options.idleMs ?? IDLE_MS).unref();
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    void worker?.terminate();
  }

  /** A thread that never came up leaves its work to this one; what made one end is not tried again here. */
  #lost(worker: Worker, wasUp: boolean, error: Error): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.options.log.warning(`the thread that converts bodies is gone: ${error.message}`);
    for (const { resolve, reject, conversion } of this.#waiting.values()) {
      if (wasUp) reject(error);
      else resolve(inThisThread.convert(conversion));
    }
    this.#waiting.clear();
  }
}

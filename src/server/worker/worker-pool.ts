// A worker thread for work on what is large. It starts with the first work and ends when there was none for a while: a
// server that meets none pays neither its memory nor its start.
import { Worker } from 'node:worker_threads';
import {
  type WorkerPool,
  type WorkerTaskOptions,
  type WorkerRequirement,
  RunInline,
  type Task,
} from '../../lib/async/worker-pool.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { internalError, timeout } from '../../machinery/status.js';
import type { WorkerSettings } from './worker-settings.js';
import type { ExpressionTimes } from '../kinds/expressions.js';
import type { WorkerRequest, WorkerResponse } from './protocol.js';

export interface SingleWorkerPoolOptions {
  /** The thread's program. */
  readonly file: string;
  readonly settings: WorkerSettings;
  readonly fromBytes: number;
  readonly idleMs?: number;
  /** How long one piece of work may take. */
  readonly lateMs?: number;
  readonly log: Pick<Logger, 'warning'>;
  /** Called with what the thread spent on expressions. */
  readonly times?: ExpressionTimes;
}

interface Job {
  readonly question: WorkerRequest;
  /** Buffers of the work that are transferred, not copied. */
  readonly bytes: readonly ArrayBuffer[];
  readonly resolve: (answer: WorkerResponse) => void;
  readonly reject: (error: Error) => void;
}

const IDLE_MS = 10_000;
/** The client got a timeout long before; the work behind this one is not to wait for it. */
const LATE_MS = 60_000;

export class SingleWorkerPool implements WorkerPool {
  readonly minBytes: number;
  #worker: Worker | undefined;
  #lastId = 0;
  /** The job that the thread has; when the thread dies, the queued jobs run in the next thread. */
  #atWork: Job | undefined;
  readonly #queue: Job[] = [];
  /** Ids of what the thread was sent; it may have evicted some. */
  readonly #sent = new Set<string>();
  #idle: NodeJS.Timeout | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(private readonly options: SingleWorkerPoolOptions) {
    this.minBytes = options.fromBytes;
  }

  async run<Work extends object, Answer extends object>(
    task: Task<Work, Answer>,
    work: Work,
    { requires, deadlineMs, transfer = [] }: WorkerTaskOptions = {},
  ): Promise<Answer> {
    const question = { task: task.name, work, deadlineMs };
    const isNew = requires !== undefined && !this.#sent.has(requires.id);
    const needed = isNew ? await withJson(requires) : requires && { id: requires.id };
    if (requires !== undefined) this.#sent.add(requires.id);
    let response = await this.#send({ ...question, needs: needed }, transfer);
    // What was transferred cannot be sent again.
    if (response.without === 'unknown' && transfer.length === 0) {
      response = await this.#send({ ...question, needs: await withJson(requires) }, transfer);
    }
    if (response.answer !== undefined) return response.answer as Answer;
    switch (response.without) {
      case 'unknown':
        if (requires !== undefined) this.#sent.delete(requires.id);
        throw new RunInline('what it needs was evicted');
      case 'here':
        throw new RunInline(response.failed);
      case 'late':
        throw timeout('request did not complete within the allotted timeout');
      case undefined:
        throw new Error(`work on the worker thread failed: ${response.failed}`);
    }
  }

  #send(question: Omit<WorkerRequest, 'id'>, transfer: readonly string[]): Promise<WorkerResponse> {
    // Mostly copies: bytes may lie in memory that is shared or mapped, and a transfer takes the whole buffer.
    const bytes: ArrayBuffer[] = [];
    const work = Object.fromEntries(
      Object.entries(question.work).map(([name, value]: [string, unknown]) => {
        if (!(value instanceof Uint8Array)) return [name, value];
        const isWhole = value.byteLength === value.buffer.byteLength && value.buffer instanceof ArrayBuffer;
        const own = transfer.includes(name) && isWhole ? value : new Uint8Array(value);
        bytes.push(own.buffer as ArrayBuffer);
        return [name, own];
      }),
    );
    return new Promise((resolve, reject) => {
      this.#queue.push({ question: { ...question, id: ++this.#lastId, work }, bytes, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#atWork !== undefined) return;
    clearTimeout(this.#idle);
    const job = this.#queue.shift();
    if (job === undefined) {
      // A thread that nobody waits for does not keep the process.
      this.#worker?.unref();
      this.#idle = setTimeout(() => this.#end(), this.options.idleMs ?? IDLE_MS).unref();
      return;
    }
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    this.#atWork = job;
    this.#watchOver(worker);
    try {
      worker.postMessage(job.question, job.bytes);
    } catch (error) {
      // The work cannot be cloned: the fault of this job alone.
      this.#done(job, () => job.reject(error as Error));
    }
  }

  #done(job: Job, settle: () => void): void {
    clearTimeout(this.#late);
    if (this.#atWork === job) this.#atWork = undefined;
    settle();
    this.#next();
  }

  #start(): Worker {
    const worker = new Worker(this.options.file, { name: 'worker', workerData: this.options.settings });
    let isUp = false;
    worker.once('message', () => (isUp = true));
    worker.on('message', (answer: WorkerResponse) => this.#answered(answer));
    worker.on('error', (error) => this.#lost(worker, isUp, internalError(error.message)));
    worker.on('exit', () => this.#lost(worker, isUp, internalError('the thread for large objects ended')));
    return worker;
  }

  #answered(answer: WorkerResponse): void {
    const { times } = this.options;
    for (const seconds of answer.compilations ?? []) times?.compilation(seconds);
    for (const seconds of answer.evaluations ?? []) times?.evaluation(seconds);
    const job = this.#atWork;
    if (job === undefined) return;
    if (job.question.id === answer.id) return this.#done(job, () => job.resolve(answer));
    // The thread is up: the time for the job starts now.
    clearTimeout(this.#late);
    if (this.#worker !== undefined) this.#watchOver(this.#worker);
  }

  #watchOver(worker: Worker): void {
    this.#late = setTimeout(() => {
      this.#lost(worker, true, timeout('the worker did not finish in time'));
      void worker.terminate();
    }, this.options.lateMs ?? LATE_MS).unref();
  }

  #end(): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#sent.clear();
    void worker?.terminate();
  }

  /** The jobs of a thread that never started run inline; a job that crashed its thread fails. */
  #lost(worker: Worker, wasUp: boolean, error: Error): void {
    if (worker !== this.#worker) return;
    this.#worker = undefined;
    this.#sent.clear();
    clearTimeout(this.#late);
    this.options.log.warning(`the thread for large objects is gone: ${error.message}`);
    const job = this.#atWork;
    this.#atWork = undefined;
    if (wasUp) job?.reject(error);
    else for (const each of [job, ...this.#queue.splice(0)]) each?.reject(new RunInline(error.message));
    this.#next();
  }
}

async function withJson(needs: WorkerRequirement | undefined): Promise<WorkerRequest['needs']> {
  return needs && { id: needs.id, json: await needs.json() };
}

// A worker process's side of what it shares with the others: the server has one when it is one of several processes.
import type { Socket } from 'node:net';
import { Channel, type Port } from './channel.js';

export interface WorkerParts {
  /** From 0. */
  readonly index: number;
  readonly count: number;
  /** The worker processes that were there when this one was started. */
  readonly earlier: readonly number[];
  /** When the supervisor was started, in Unix time. */
  readonly serverStartedMs: number;
  /** The processor time that this process has used since its start. */
  readonly processorMs: () => number;
}

export class SupervisorLink implements Omit<WorkerParts, 'processorMs'> {
  readonly index: number;
  readonly count: number;
  readonly earlier: readonly number[];
  readonly serverStartedMs: number;
  readonly channel: Channel;
  /** The server is to end. */
  readonly shutdown: Promise<void>;
  /** Worker 0 has done what it does at its start. */
  readonly firstStarted: Promise<void>;
  #accept: ((socket: Socket) => void) | undefined;
  #closed = 0;

  constructor(port: Port, parts: WorkerParts) {
    ({ index: this.index, count: this.count, earlier: this.earlier, serverStartedMs: this.serverStartedMs } = parts);
    this.channel = new Channel(port);
    this.shutdown = new Promise((resolve) => this.channel.handle('shutdown', () => resolve()));
    this.firstStarted = new Promise((resolve) => this.channel.handle('first-started', () => resolve()));
    this.channel.handle('ping', () => parts.processorMs());
    this.channel.handle('connection', (_, socket) => {
      this.channel.notify('accepted');
      // The client may be gone by now.
      if (socket === undefined) return this.#connectionClosed();
      socket.on('close', () => this.#connectionClosed());
      if (this.#accept === undefined) socket.destroy();
      else this.#accept(socket);
    });
  }

  /** The worker that does what one of them does for all. */
  get isFirst(): boolean {
    return this.index === 0;
  }

  /** From now on connections come. */
  listen(accept: (socket: Socket) => void): void {
    this.#accept = accept;
    this.channel.notify('listening');
  }

  started(): void {
    this.channel.notify('started');
  }

  onReload(run: () => void): void {
    this.channel.handle('reload', run);
  }

  /** Passes on a signal that the worker received: it is meant for the server. */
  requestShutdown(): void {
    this.channel.notify('signal');
  }

  /** Resolves when all workers have come this far in the shutdown. */
  async phase(name: 'draining' | 'drained' | 'closing'): Promise<void> {
    await this.channel.ask('phase', name);
  }

  #connectionClosed(): void {
    if (this.#closed++ > 0) return;
    setImmediate(() => {
      this.channel.notify('closed', this.#closed);
      this.#closed = 0;
    });
  }
}

// Messages between the supervisor and a worker process, by topic: notices, questions with one answer, and connections.
//
//   supervisor ── { topic: 'connection' } + socket ─▶ worker
//   worker ── { topic: 'metrics', question: 7, content } ─▶ supervisor ── { answer: 7, content } ─▶ worker
import type { Socket } from 'node:net';

/** One end of a process's IPC channel. */
export interface Port {
  /** The socket stays open in this process, too. What is sent to a process that has ended is lost. */
  send(message: Message, socket: Socket | undefined): void;
  onMessage(receive: (message: Message, socket: Socket | undefined) => void): void;
}

export type Message =
  | { readonly topic: string; readonly question?: number; readonly content: unknown }
  | { readonly answer: number; readonly content?: unknown; readonly error?: string };

interface Asked {
  readonly resolve: (content: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Handler = (content: unknown, socket: Socket | undefined) => unknown;

class ChannelClosed extends Error {
  constructor() {
    super('the other process has ended');
  }
}

export class Channel {
  readonly #handlers = new Map<string, Handler>();
  readonly #asked = new Map<number, Asked>();
  #lastQuestion = 0;
  #isClosed = false;

  constructor(private readonly port: Port) {
    port.onMessage((message, socket) => this.#receive(message, socket));
  }

  /** What a handler returns, or what its promise is fulfilled with, is the answer where the other side asked. */
  handle(topic: string, handler: Handler): void {
    this.#handlers.set(topic, handler);
  }

  notify(topic: string, content?: unknown, socket?: Socket): void {
    this.#send({ topic, content }, socket);
  }

  /** Rejects with what the handler threw, or with `ChannelClosed`. */
  ask(topic: string, content?: unknown): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new ChannelClosed());
    const question = ++this.#lastQuestion;
    return new Promise((resolve, reject) => {
      this.#asked.set(question, { resolve, reject });
      this.#send({ topic, question, content });
    });
  }

  /** The other process has ended: nothing is answered any more. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#asked.values()) reject(new ChannelClosed());
    this.#asked.clear();
  }

  #send(message: Message, socket?: Socket): void {
    if (!this.#isClosed) this.port.send(message, socket);
  }

  #receive(message: Message, socket: Socket | undefined): void {
    if ('answer' in message) {
      const asked = this.#asked.get(message.answer);
      this.#asked.delete(message.answer);
      if (message.error === undefined) asked?.resolve(message.content);
      else asked?.reject(new Error(message.error));
      return;
    }
    const { topic, question, content } = message;
    const handler = this.#handlers.get(topic);
    if (question === undefined) return void handler?.(content, socket);
    void this.#answer(question, handler, content);
  }

  async #answer(question: number, handler: Handler | undefined, content: unknown): Promise<void> {
    try {
      if (handler === undefined) throw new Error('nobody answers this question');
      this.#send({ answer: question, content: await handler(content, undefined) });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      this.#send({ answer: question, error: text });
    }
  }
}

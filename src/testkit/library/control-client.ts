// Requests to the control socket of `binnacle serve-clusters`.
import http from 'node:http';
import type { ControlFailure } from '../protocol/control.js';

export class ControlClient {
  readonly socketPath: string;
  readonly #whenEnded: (() => Promise<string>) | undefined;
  /** Opening a connection takes longer than most requests. One that nobody waits for keeps no process alive. */
  readonly #agent = new http.Agent({ keepAlive: true });

  /** `whenEnded` waits for the end of the process that serves it, and answers how it ended, where that is known. */
  constructor(socketPath: string, whenEnded?: () => Promise<string>) {
    this.socketPath = socketPath;
    this.#whenEnded = whenEnded;
  }

  async send<T>(method: string, at: string, body?: unknown): Promise<T> {
    const { status, text } = await this.#send(method, at, body).catch((error: unknown) => this.#fail(error));
    const answer = JSON.parse(text) as T | ControlFailure;
    if (status >= 300) throw new Error((answer as ControlFailure).error);
    return answer as T;
  }

  /** A socket that fails is that of a process which has ended, or is about to. */
  async #fail(error: unknown): Promise<never> {
    if (this.#whenEnded === undefined) throw error;
    throw new Error(`the process that serves the clusters has ended: ${await this.#whenEnded()}`, { cause: error });
  }

  #send(method: string, at: string, body: unknown): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const options = { socketPath: this.socketPath, method, path: at, agent: this.#agent };
      const request = http.request(options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (piece: string) => (text += piece));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.on('error', reject);
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

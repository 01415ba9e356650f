// Requests to a cluster's API as its administrator.
import http from 'node:http';
import https from 'node:https';
import type { ClusterResponse } from './types.js';

export interface ApiAddress {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
  readonly userAgent?: string;
}

export interface SentRequest {
  /** A text as it is, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Ends the request, and the reading of its answer. */
  readonly signal?: AbortSignal | undefined;
}

export class ApiClient {
  readonly #address: ApiAddress;
  readonly #agent: https.Agent;

  constructor(address: ApiAddress) {
    this.#address = address;
    this.#agent = new https.Agent({ keepAlive: true, ca: address.ca });
  }

  async request(method: string, at: string, sent?: SentRequest): Promise<ClusterResponse> {
    const response = await this.#open(method, at, sent);
    let text = '';
    response.setEncoding('utf8');
    for await (const piece of response) text += piece as string;
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      json: <T>() => JSON.parse(text) as T,
    };
  }

  /** The lines of a watch, until it ends. */
  async *lines(at: string, signal: AbortSignal): AsyncGenerator<string> {
    const response = await this.#open('GET', at, { signal });
    response.setEncoding('utf8');
    let rest = '';
    for await (const piece of response) {
      const lines = (rest + (piece as string)).split('\n');
      rest = lines.pop() ?? '';
      yield* lines.filter((line) => line !== '');
    }
    if (rest.trim() !== '') yield rest;
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(method: string, at: string, { body, headers, signal }: SentRequest = {}): Promise<http.IncomingMessage> {
    const { url, token, userAgent = 'node' } = this.#address;
    const sent = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const type = sent === undefined ? {} : { 'content-type': 'application/json' };
    const options = {
      method,
      agent: this.#agent,
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'application/json',
        'user-agent': userAgent,
        ...type,
        ...headers,
      },
      ...(signal !== undefined && { signal }),
    };
    return new Promise((resolve, reject) => {
      https.request(new URL(at, url), options, resolve).on('error', reject).end(sent);
    });
  }
}

/** In the server's words, where it has some. */
export function failureText(what: string, status: number, text: string): string {
  let message = text.slice(0, 1000);
  try {
    message = (JSON.parse(text) as { message?: string }).message ?? message;
  } catch {
    // Not a Status: its text says what there is to say.
  }
  return `${what}: ${status}: ${message}`;
}

// The little that the operator needs of a client.
import https from 'node:https';

export interface ApiAddress {
  readonly url: string;
  readonly token: string;
  readonly ca: string;
}

export class Api {
  readonly #address: ApiAddress;
  readonly #agent: https.Agent;

  constructor(address: ApiAddress) {
    this.#address = address;
    this.#agent = new https.Agent({ keepAlive: true, ca: address.ca });
  }

  async request<T>(
    method: string,
    at: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<{ status: number; body: T }> {
    let text = '';
    const response = await this.#open(
      { method, headers: body === undefined ? {} : { 'content-type': type } },
      at,
      body,
    );
    for await (const piece of response) text += String(piece);
    return { status: response.statusCode ?? 0, body: JSON.parse(text) as T };
  }

  /** The events of a watch, until it ends. */
  async *watch<T>(at: string, signal: AbortSignal): AsyncGenerator<{ type: string; object: T }> {
    let rest = '';
    for await (const piece of await this.#open({ method: 'GET', signal }, at)) {
      const lines = (rest + String(piece)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) yield JSON.parse(line) as { type: string; object: T };
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #open(request: Request, at: string, body?: unknown): ReturnType<typeof open> {
    const headers = { authorization: `Bearer ${this.#address.token}`, ...request.headers };
    const options = { ...request, headers, agent: this.#agent };
    return open(new URL(at, this.#address.url), options, body === undefined ? undefined : JSON.stringify(body));
  }
}

interface Request {
  readonly method: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

function open(
  url: URL,
  options: https.RequestOptions,
  body: string | undefined,
): Promise<import('node:http').IncomingMessage> {
  return new Promise((resolve, reject) => {
    https.request(url, options, resolve).on('error', reject).end(body);
  });
}

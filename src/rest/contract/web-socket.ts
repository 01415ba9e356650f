// An answer as WebSocket messages, for clients that only listen: browsers, which cannot read an endless answer.
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { drained } from '../../lib/async/drained.js';
import type { HttpRequest, HttpResponse, ResponseSink } from '../../lib/http/http.js';
import { latestWhenDrained } from '../../lib/async/latest-when-drained.js';
import { GatheredWrites } from '../../lib/scheduling/write-scheduler.js';
import type { RestRequest } from './request.js';

export interface WebSocketForm {
  /** Messages of text; of bytes otherwise. */
  readonly isText: boolean;
  /** What is spoken, of what the client offered. */
  readonly protocol: string | undefined;
}

type Upgrade = NonNullable<HttpRequest['upgrade']>;

export const SUPPORTED_VERSION = '13';
/** What a client may send at once; it is read and forgotten. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const NORMAL_END = 1000;

/** What a client offers to speak. A token among it was for this server alone. */
export const offeredProtocols = ({ http, websocketProtocols }: RestRequest): string =>
  websocketProtocols ?? http.headers['sec-websocket-protocol'] ?? '';

/** For a client that offers at most one protocol, as in `offered`, and names its origin. */
export function acceptWebSocket(
  request: HttpRequest,
  { isText, offered }: { readonly isText: boolean; readonly offered: string },
  stream: (sink: ResponseSink) => Promise<void>,
): HttpResponse {
  const protocols = offered.split(',').flatMap((one) => one.trim() || []);
  return refusal(request, protocols) ?? openWebSocket(request, { isText, protocol: protocols[0] }, stream);
}

/** Each write of `stream` becomes a message. The connection ends with it, and it with the connection. */
export function openWebSocket(
  request: HttpRequest,
  { isText, protocol }: WebSocketForm,
  stream: (sink: ResponseSink) => Promise<void>,
): HttpResponse {
  const { upgrade } = request;
  const refused = webSocketRefusal(request);
  if (refused !== undefined || upgrade === undefined) return refused ?? plainAnswer(400, 'not websocket protocol');
  return {
    status: 101,
    headers: {},
    body: {
      async stream(connection) {
        const webSocket = await shakeHands(request, upgrade, protocol);
        if (webSocket === undefined) return;
        try {
          await stream(new MessageSink(webSocket, upgrade, connection.signal, isText));
        } finally {
          endWebSocket(webSocket, upgrade.socket);
        }
      },
    },
  };
}

function refusal(request: HttpRequest, protocols: readonly string[]): HttpResponse | undefined {
  const refused = webSocketRefusal(request);
  if (refused !== undefined) return refused;
  // Any page may open a WebSocket, and only this header shows it: a client without one is refused.
  if (!isOrigin(request.headers.origin ?? '')) return plainAnswer(403, '');
  // Nothing decides which of several to speak.
  return protocols.length > 1 ? plainAnswer(400, '') : undefined;
}

/** Why a request opens no WebSocket, if so. */
export function webSocketRefusal({ method, headers }: HttpRequest): HttpResponse | undefined {
  if (method !== 'GET') return plainAnswer(405, 'bad method');
  if (!/^[+/0-9A-Za-z]{22}==$/.test(headers['sec-websocket-key'] ?? ''))
    return plainAnswer(400, 'mismatch challenge/response');
  if (headers['sec-websocket-version'] !== SUPPORTED_VERSION) {
    return plainAnswer(400, 'missing or bad WebSocket Version', { 'sec-websocket-version': SUPPORTED_VERSION });
  }
  return undefined;
}

const isOrigin = (text: string): boolean => text.startsWith('/') || /^[a-z][a-z\d+.-]*:/i.test(text);

export const plainAnswer = (status: number, body: string, headers: Record<string, string> = {}): HttpResponse => ({
  status,
  headers,
  body,
});

/**
 * Undefined when the client broke off, or requested what cannot be spoken. A client that closes is answered with a
 * normal end, whatever it says of it, or with `leaves: 'echoed'` with its own code.
 */
export async function shakeHands(
  { headers }: HttpRequest,
  { socket, head }: Upgrade,
  protocol: string | undefined,
  { leaves = 'normal' }: { readonly leaves?: 'normal' | 'echoed' } = {},
): Promise<WebSocket | undefined> {
  // Few servers ever need it, so it is loaded when one does.
  const { WebSocket, WebSocketServer } = await import('ws');
  const server = new WebSocketServer({
    noServer: true,
    WebSocket: class extends WebSocket {
      /** The library passes on a client's reason, or no code at all, where it answers a leave. */
      override close(code?: number, reason?: Buffer | string): void {
        const isLeave = code === undefined || reason !== undefined;
        super.close(isLeave && leaves === 'normal' ? NORMAL_END : code);
      }
    },
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // A command's input may be any bytes, also from a client that calls its messages text.
    skipUTF8Validation: true,
    // The library would answer every ping, whether the client reads or not.
    autoPong: false,
  });
  const upgradeRequest = {
    method: 'GET',
    headers: {
      upgrade: 'websocket',
      'sec-websocket-key': headers['sec-websocket-key'],
      'sec-websocket-version': SUPPORTED_VERSION,
    },
  } as unknown as IncomingMessage;
  // The library would refuse names that clients of this API do use, for a slash in them.
  if (protocol !== undefined) server.on('headers', (lines) => lines.push(`Sec-WebSocket-Protocol: ${protocol}`));
  let accepted: WebSocket | undefined;
  server.handleUpgrade(upgradeRequest, socket, head, (webSocket) => (accepted = webSocket));
  accepted?.on('error', () => undefined);
  // A client that only stops sending gets the end as well.
  socket.prependListener('end', () => accepted?.close(NORMAL_END));
  accepted?.on(
    'ping',
    latestWhenDrained(socket, (ping: Buffer) => accepted?.pong(ping)),
  );
  return accepted;
}

/** Sends the close frame to a client, and waits for nothing more. */
export function endWebSocket(webSocket: WebSocket, socket: Upgrade['socket']): void {
  webSocket.close(NORMAL_END);
  socket.end();
}

class MessageSink implements ResponseSink {
  readonly signal: AbortSignal;
  readonly #writes: GatheredWrites;

  constructor(
    private readonly webSocket: WebSocket,
    private readonly upgrade: Upgrade,
    connectionSignal: AbortSignal,
    private readonly isText: boolean,
  ) {
    this.#writes = new GatheredWrites(upgrade.socket);
    // A client says that it goes before its connection does.
    const closing = new AbortController();
    webSocket.once('close', () => closing.abort());
    this.signal = AbortSignal.any([connectionSignal, closing.signal]);
  }

  get pendingBytes(): number {
    return this.webSocket.bufferedAmount;
  }

  write(chunk: Buffer | string): boolean {
    this.#writes.gather();
    this.webSocket.send(chunk, { binary: !this.isText });
    return !this.upgrade.socket.writableNeedDrain;
  }

  drained(): Promise<void> {
    return drained(this.upgrade.socket);
  }
}

// A log as WebSocket messages, which pages in a browser can read as they come: a piece of it in each, as bytes or base64.
import type { HttpResponse, ResponseSink, ResponseStream } from '../../lib/http/http.js';
import type { RestRequest } from '../contract/request.js';
import { offeredProtocols, openWebSocket, plainAnswer, webSocketRefusal } from '../contract/web-socket.js';

const MAX_PIECE_BYTES = 2048;

/** Which protocols may be requested, and whether they write pieces as text, in base64. A client may request none. */
const IS_TEXT: ReadonlyMap<string, boolean> = new Map([
  ['', false],
  ['binary.k8s.io', false],
  ['base64.binary.k8s.io', true],
]);

export function logMessages(request: RestRequest, log: ResponseStream): HttpResponse {
  const { http } = request;
  const protocol = offeredProtocols(request)
    .split(',')
    .map((one) => one.trim())
    .find((one) => IS_TEXT.has(one));
  if (protocol === undefined) return webSocketRefusal(http) ?? plainAnswer(403, '');
  const isText = IS_TEXT.get(protocol) === true;
  return openWebSocket(http, { isText, protocol }, async (sink) => {
    // The first message is empty: it shows that the log was found, however long it is silent.
    sink.write(Buffer.alloc(0));
    await log.stream(new PieceSink(sink, isText));
  });
}

class PieceSink implements ResponseSink {
  constructor(
    private readonly messages: ResponseSink,
    private readonly isText: boolean,
  ) {}

  get pendingBytes(): number {
    return this.messages.pendingBytes;
  }

  get signal(): AbortSignal {
    return this.messages.signal;
  }

  write(chunk: Buffer | string): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let hasRoom = true;
    for (let at = 0; at < bytes.length; at += MAX_PIECE_BYTES) {
      const piece = bytes.subarray(at, at + MAX_PIECE_BYTES);
      hasRoom = this.messages.write(this.isText ? piece.toString('base64') : piece);
    }
    return hasRoom;
  }

  drained(): Promise<void> {
    return this.messages.drained();
  }
}

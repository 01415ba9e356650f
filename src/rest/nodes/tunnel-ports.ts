// Port-forwarding for clients that speak WebSocket: what they send in its messages is SPDY, and goes to the kubelet as it
// is.
import { STATUS_CODES } from 'node:http';
import type { HttpResponse } from '../../lib/http/http.js';
import type { Destination } from '../../outbound/proxy/forward.js';
import { sendUpgrade, handedOver, refuse, splice } from '../../outbound/proxy/forward-upgrade.js';
import type { RestRequest } from '../contract/request.js';
import { endWebSocket, plainAnswer, shakeHands, SUPPORTED_VERSION, webSocketRefusal } from '../contract/web-socket.js';

const PREFIX = 'SPDY/3.1+';
const SUFFIX = '.k8s.io';

/** The SPDY protocols among those offered. */
export const tunnelledProtocols = (offered: string): readonly string[] =>
  offered
    .split(',')
    .map((one) => one.trim())
    .flatMap((one) => (one.startsWith(PREFIX) && one.endsWith(SUFFIX) ? [one.slice(PREFIX.length)] : []));

const WEB_SOCKET_HEADERS: ReadonlySet<string> = new Set([
  'sec-websocket-protocol',
  'sec-websocket-key',
  'sec-websocket-version',
]);

/** Rejects with an OutboundError where the kubelet cannot be called. */
export async function tunnelPorts(
  { http }: RestRequest,
  destination: Destination,
  protocols: readonly string[],
): Promise<HttpResponse> {
  const { upgrade } = http;
  if (upgrade === undefined) return plainAnswer(400, 'not websocket protocol');
  const kept = Object.entries(destination.headers).filter(([name]) => !WEB_SOCKET_HEADERS.has(name));
  const headers = { ...Object.fromEntries(kept), upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocols };
  const answer = await sendUpgrade({ method: 'POST', signal: http.signal }, { ...destination, headers });
  if (!('socket' in answer)) return handedOver(() => refuse(upgrade.socket, answer));
  const { connection = '', upgrade: changed = '', 'x-stream-protocol-version': chosen } = answer.headers;
  if (!connection.toLowerCase().includes('upgrade') || !changed.toLowerCase().includes('spdy/3.1')) {
    answer.socket.destroy();
    return refusal(500, 'unable to upgrade: missing upgrade headers in response');
  }
  const refused = webSocketRefusal(http);
  if (refused !== undefined) {
    answer.socket.destroy();
    return refusal(refused.status, STATUS_CODES[refused.status] ?? '', { 'sec-websocket-version': SUPPORTED_VERSION });
  }
  return handedOver(async () => {
    const protocol = protocols.find((one) => one === chosen);
    const named = protocol === undefined ? undefined : `${PREFIX}${protocol}`;
    const webSocket = await shakeHands(http, upgrade, named, { leaves: 'echoed' });
    if (webSocket === undefined) {
      answer.socket.destroy();
      return;
    }
    const { createWebSocketStream } = await import('ws');
    // SPDY is bytes: a client that sends text speaks something else.
    webSocket.on('message', (_message, isBinary) => {
      if (isBinary) return;
      answer.socket.destroy();
      endWebSocket(webSocket, upgrade.socket);
    });
    const client = createWebSocketStream(webSocket);
    if (answer.head.length > 0) client.write(answer.head);
    await splice(client, answer.socket);
  });
}

const refusal = (status: number, text: string, headers: Record<string, string> = {}): HttpResponse =>
  plainAnswer(status, `${text}\n`, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...headers,
  });

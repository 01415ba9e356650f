// Lets a client and another server leave HTTP together: from then on bytes pass both ways, untouched.
import type { Duplex } from 'node:stream';
import { drained } from '../../lib/async/drained.js';
import type { HttpRequest, HttpResponse } from '../../lib/http/http.js';
import { statusText } from '../../lib/http/http1/status-text.js';
import type { OutboundResponse, Upgraded } from '../messages.js';
import { OutboundError } from '../outbound-error.js';
import type { Destination } from './forward.js';

/** The most time for the answer of a server that declines the upgrade, until the client has read it. */
const REFUSAL_TIMEOUT_MS = 10_000;

/**
 * Rejects with an OutboundError where this server can still answer the client itself; the other server's refusal is
 * forwarded as it is.
 */
export async function forwardUpgrade(request: HttpRequest, destination: Destination): Promise<HttpResponse> {
  const { upgrade } = request;
  if (upgrade === undefined) throw new OutboundError('protocol', 'request connection cannot be hijacked');
  const answer = await sendUpgrade(request, destination);
  if (!isUpgraded(answer)) return handedOver(() => refuse(upgrade.socket, answer));
  return handedOver(async () => {
    upgrade.socket.write(headText(answer));
    upgrade.socket.write(answer.head);
    answer.socket.write(upgrade.head);
    await splice(upgrade.socket, answer.socket);
  });
}

/** The connection out of HTTP, or a refusal. Rejects with an OutboundError for everything else. */
export async function sendUpgrade(
  { method, signal }: Pick<HttpRequest, 'method' | 'signal'>,
  { client, origin, target, headers }: Destination,
): Promise<Upgraded | OutboundResponse> {
  const answer = await client
    .upgrade({ method, url: origin, target, headers, sendUserAgent: true, signal })
    .catch((error: unknown) => {
      throw dialing(OutboundError.from(error));
    });
  if (isUpgraded(answer) || answer.status >= 400) return answer;
  answer.body.destroy();
  throw new OutboundError('protocol', `invalid upgrade response: status code ${answer.status}`);
}

const isUpgraded = (answer: Upgraded | OutboundResponse): answer is Upgraded => 'socket' in answer;

/** Distinguishes a failure before the other server answered from a malformed answer. */
const dialing = (error: OutboundError): OutboundError => {
  if (error.failure !== 'protocol')
    return new OutboundError(error.failure, `error dialing backend: ${error.message}`, error);
  return error.message === 'EOF' ? new OutboundError('protocol', 'unexpected EOF', error) : error;
};

export const handedOver = (stream: () => Promise<void>): HttpResponse => ({
  status: 101,
  headers: {},
  body: { stream },
});

function headText({ status, rawHeaders }: Upgraded | OutboundResponse): string {
  let text = `HTTP/1.1 ${status} ${statusText(status)}\r\n`;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) text += `${rawHeaders[i]}: ${rawHeaders[i + 1]}\r\n`;
  return `${text}\r\n`;
}

/** Both ways until one side ends; the other then gets what is still on its way, and ends, too. */
export function splice(one: Duplex, other: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      one.destroy();
      other.destroy();
      resolve();
    };
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.on('error', finish);
      from.once('end', () => (to.writableFinished ? finish() : to.once('finish', finish)));
      // A side that has said all closes by itself, while its last words may still be on their way to the other.
      from.once('close', () => from.readableEnded || finish());
      from.pipe(to);
    }
  });
}

/** The refusal as it came; the connection ends with it. */
export async function refuse(client: Duplex, answer: OutboundResponse): Promise<void> {
  const timer = setTimeout(() => {
    answer.body.destroy();
    client.destroy();
  }, REFUSAL_TIMEOUT_MS).unref();
  client.once('close', () => clearTimeout(timer));
  try {
    const framed = answer.rawHeaders.some((name, i) => i % 2 === 0 && name.toLowerCase() === 'transfer-encoding');
    client.write(headText(framed ? { ...answer, rawHeaders: withoutFraming(answer.rawHeaders) } : answer));
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      if (!client.write(chunk)) await drained(client);
      if (client.destroyed) break;
    }
  } catch {
    // Half of what it said is all there is.
  } finally {
    answer.body.destroy();
    client.end(() => client.destroy());
  }
}

/** Sent without chunks, the answer ends with its connection. */
const withoutFraming = (raw: readonly string[]): string[] => [
  ...raw.flatMap((name, i) =>
    i % 2 === 1 || /^(transfer-encoding|connection)$/i.test(name) ? [] : [name, String(raw[i + 1])],
  ),
  'Connection',
  'close',
];

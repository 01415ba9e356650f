import type { Duplex } from 'node:stream';

/** A server that speaks HTTP without TLS has answered a greeting in TLS within this time, if it ever will. */
const PROBE_MS = 1000;
/** What TLS begins with, and what is no request: HTTP servers complain of it, and nothing is done. */
const GREETING = Buffer.from('\x16\x03\x01\r\n\r\n', 'latin1');
const HTTP = 'HTTP/';

/**
 * Whether a server that does not speak TLS speaks HTTP. Node's TLS does not expose bytes that it could not parse, so the
 * probe needs a connection of its own. That is worth it: a wrong scheme is the commonest mistake in an address.
 */
export function answersInHttp(connection: Duplex, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = '';
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', settle);
      connection.destroy();
      resolve(answer.startsWith(HTTP));
    };
    const timer = setTimeout(settle, PROBE_MS);
    signal.addEventListener('abort', settle, { once: true });
    connection.on('error', settle).on('end', settle).on('close', settle);
    connection.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1', 0, HTTP.length);
      if (answer.length >= HTTP.length) settle();
    });
    connection.write(GREETING);
  });
}

// A proxy that speaks HTTP CONNECT: over TCP with TLS, where it must know us by our certificate, or over a unix
// socket.
import fs from 'node:fs';
import type { Duplex } from 'node:stream';
import { goQuote } from '../lib/go/quote.js';
import { type ClientTls, handshake } from '../outbound/client-tls.js';
import { addressOf, type DialTarget, dialUnix, directDialer } from '../outbound/dialer.js';
import { parseResponseHead } from '../outbound/http1/response-head.js';
import { parseStatusLine } from '../outbound/http1/status-line.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { targetOf } from '../outbound/target.js';
import type { TLSConfig } from '../schema/generated/apiserver.v1beta1.js';
import type { Proxy } from './proxy.js';

export type ProxyAddress = { readonly unixPath: string } | { readonly url: string; readonly tls: TLSConfig };

export function httpConnectProxy(address: ProxyAddress): Proxy {
  if ('unixPath' in address) {
    const { unixPath } = address;
    return {
      labels: { protocol: 'http_connect', transport: 'uds' },
      connect: async (signal) => reached(await dialUnix(unixPath, signal), unixPath),
    };
  }
  if (!address.url.startsWith('https://')) {
    throw new Error('a proxy at an http:// address would see everything in clear text: use https://, or a unix socket');
  }
  if (!URL.canParse(address.url)) throw new Error(`invalid proxy server url ${goQuote(address.url)}`);
  const target = targetOf(new URL(address.url));
  readTls(address.tls);
  return {
    labels: { protocol: 'http_connect', transport: 'tcp' },
    async connect(signal) {
      const connection = await directDialer.dial(target, signal);
      const options = { tls: readTls(address.tls), host: target.host, protocols: [], signal };
      return reached(await handshake(connection, options), addressOf(target));
    },
  };
}

/** Read for every connection, so that renewed certificates take effect. */
function readTls({ caBundle = '', clientCert = '', clientKey = '' }: TLSConfig): ClientTls {
  return {
    ...(caBundle === '' ? {} : { ca: fs.readFileSync(caBundle) }),
    cert: fs.readFileSync(clientCert),
    key: fs.readFileSync(clientKey),
  };
}

const reached = (connection: Duplex, proxy: string): Awaited<ReturnType<Proxy['connect']>> => ({
  tunnel: (target, signal) => tunnel(connection, { proxy, target, signal }),
});

/** Lines may end without a carriage return, as they may for kube-apiserver. */
const END_OF_HEAD = /\r?\n\r?\n/;
const END_OF_LINE = /\r?\n/;
/** An answer to CONNECT is a few lines. */
const MAX_HEAD_BYTES = 64 * 1024;

export interface TunnelRequest {
  readonly proxy: string;
  readonly target: DialTarget;
  readonly signal: AbortSignal;
  readonly headers?: string | undefined;
}

/** `headers`: more of them, each with its end of line. */
export function tunnel(connection: Duplex, { proxy, target, signal, headers = '' }: TunnelRequest): Promise<Duplex> {
  const address = addressOf(target);
  return new Promise((resolve, reject) => {
    const head = new Head();
    const read = (): Buffer | null => connection.read() as Buffer | null;
    const settle = (): void => {
      connection.removeListener('readable', onReadable);
      connection.removeListener('error', onEnd);
      connection.removeListener('close', onEnd);
      connection.removeListener('end', onEnd);
      signal.removeEventListener('abort', onAbort);
    };
    const fail = (error: OutboundError): void => {
      settle();
      connection.on('error', () => undefined).destroy();
      reject(error);
    };
    const unread = (why: string): void =>
      fail(
        new OutboundError('dial', `reading HTTP response from CONNECT to ${address} via proxy ${proxy} failed: ${why}`),
      );
    const onAbort = (): void => fail(OutboundError.aborted(signal));
    const onEnd = (): void =>
      unread(head.length === 0 ? 'unexpected EOF' : (wrongWith(firstLine(head.text)) ?? 'unexpected EOF'));
    // Pulled, not pushed: a stream that was made to flow would go on flowing, or stay stopped, for whoever has it next.
    const onReadable = (): void => {
      for (let chunk = read(); chunk !== null; chunk = read()) head.take(chunk);
      const { end } = head;
      if (end === undefined) {
        if (head.length > MAX_HEAD_BYTES) unread('the answer has no end');
        return;
      }
      const answer = parseResponseHead(head.text.slice(0, end.start).split(END_OF_LINE).join('\r\n'));
      if (answer instanceof OutboundError) return unread(answer.message);
      if (answer.status !== 200) {
        const words = `proxy error from ${proxy} while dialing ${address}, code ${answer.status}: ${answer.statusText}`;
        return fail(new OutboundError('dial', words));
      }
      const more = head.length - end.after;
      if (more > 0) {
        const words = `unexpected ${more} bytes of buffered data from CONNECT proxy ${goQuote(proxy)}`;
        return fail(new OutboundError('dial', words));
      }
      settle();
      resolve(connection);
    };
    connection.on('readable', onReadable);
    connection.once('error', onEnd);
    connection.once('close', onEnd);
    connection.once('end', onEnd);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) return onAbort();
    connection.write(`CONNECT ${address} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`);
  });
}

/** Of an end that may be in two pieces, so much is in the first at most. */
const MAX_BEFORE = 3;

/** An answer's head as its pieces come: each is looked through once. */
class Head {
  readonly #pieces: string[] = [];
  #last = '';
  length = 0;
  /** Where the empty line stands that ends it, and where what follows begins. */
  end: { readonly start: number; readonly after: number } | undefined;

  take(piece: Buffer): void {
    const text = piece.toString('latin1');
    this.#pieces.push(text);
    if (this.end === undefined) this.#look(this.#last + text, this.length - this.#last.length);
    this.length += text.length;
  }

  get text(): string {
    return this.#pieces.join('');
  }

  #look(text: string, at: number): void {
    const found = END_OF_HEAD.exec(text);
    if (found !== null) this.end = { start: at + found.index, after: at + found.index + found[0].length };
    this.#last = text.slice(-MAX_BEFORE);
  }
}

const firstLine = (head: string): string => head.split(END_OF_LINE, 1)[0] ?? '';

function wrongWith(line: string): string | undefined {
  const read = parseStatusLine(line);
  return read instanceof OutboundError ? read.message : undefined;
}

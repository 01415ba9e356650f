// Opens connections to others. Everything the server connects to is reached through one of these, so that
// a deployment can send its connections through proxies.
import net from 'node:net';
import type { Duplex } from 'node:stream';
import type { Trace } from '../tracing/trace.js';
import { OutboundError, dialErrorText } from './outbound-error.js';

export interface DialTarget {
  readonly host: string;
  readonly port: number;
}

export interface Dialer {
  /** A connection that is ready for bytes. Rejects with an OutboundError; gives up when `signal` aborts. */
  dial(target: DialTarget, signal: AbortSignal, trace?: Trace): Promise<Duplex>;
}

/** `host:port`, as it is written in addresses and errors: an IPv6 host in brackets. */
export const addressOf = ({ host, port }: DialTarget): string =>
  net.isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

/** How long a connection may take to come about, where the caller does not end it sooner. */
const CONNECT_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;

/** Straight to the target. */
export const directDialer: Dialer = {
  dial: (target, signal) =>
    connect(
      { host: target.host, port: target.port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS },
      `tcp ${addressOf(target)}`,
      signal,
    ),
};

/** To a server behind a unix socket. */
export const dialUnix = (path: string, signal: AbortSignal): Promise<Duplex> =>
  connect({ path }, `unix ${path}`, signal);

function connect(options: net.NetConnectOpts, where: string, signal: AbortSignal): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(OutboundError.aborted(signal));
      return;
    }
    const socket = net.connect(options);
    const timer = setTimeout(() => {
      fail(new OutboundError('timeout', `dial ${where}: i/o timeout`));
    }, CONNECT_TIMEOUT_MS);
    const fail = (error: OutboundError): void => {
      settle();
      socket.on('error', () => undefined).destroy();
      reject(error);
    };
    const onAbort = (): void => fail(OutboundError.aborted(signal, `dial ${where}`));
    const onError = (error: Error): void => fail(new OutboundError('dial', dialErrorText(error, where), error));
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
    };
    socket.once('error', onError);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => {
      settle();
      resolve(socket);
    });
  });
}

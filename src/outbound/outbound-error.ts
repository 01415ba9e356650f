// What went wrong in an outgoing call, in the words that operators know from kube-apiserver's runtime.
import { goQuote } from '../lib/go/quote.js';

export type OutboundFailure = 'dial' | 'tls' | 'timeout' | 'canceled' | 'protocol' | 'too-large';

export class OutboundError extends Error {
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.failure = failure;
  }

  /** The caller's signal ended the work: its time was over, or nobody wants the answer any more. */
  static aborted(signal: AbortSignal, during?: string): OutboundError {
    const { reason } = signal as { readonly reason?: unknown };
    const timedOut =
      (reason instanceof OutboundError && reason.failure === 'timeout') ||
      (reason instanceof Error && reason.name === 'TimeoutError');
    if (timedOut) return new OutboundError('timeout', during ? `${during}: i/o timeout` : DEADLINE_EXCEEDED);
    return new OutboundError('canceled', during ? `${during}: operation was canceled` : CANCELED);
  }

  static deadlineExceeded(): OutboundError {
    return new OutboundError('timeout', DEADLINE_EXCEEDED);
  }

  static from(error: unknown): OutboundError {
    if (error instanceof OutboundError) return error;
    const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
    const text = (typeof code === 'string' ? READ_TEXTS[code] : undefined) ?? String(message ?? error);
    return new OutboundError('protocol', text, error);
  }
}

/** What a request on a connection that had been used before meets when the server has closed it meanwhile. */
export class StaleConnection extends OutboundError {
  constructor(cause: unknown) {
    super('protocol', 'EOF', cause);
  }
}

export const DEADLINE_EXCEEDED = 'context deadline exceeded';
const CANCELED = 'context canceled';

/** `Post "https://hook.test/x?timeout=5s": EOF`: a failed request as kube-apiserver's client names it. */
export function requestErrorText(method: string, url: URL | string, error: OutboundError): string {
  const verb = method === '' ? 'Get' : method[0]?.toUpperCase() + method.slice(1).toLowerCase();
  return `${verb} ${goQuote(withoutPassword(String(url)))}: ${error.message}`;
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.password === '') return url;
  parsed.password = '***';
  return parsed.href;
}

const CONNECT_TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset by peer',
  EHOSTUNREACH: 'no route to host',
  ENETUNREACH: 'network is unreachable',
  EADDRNOTAVAIL: 'cannot assign requested address',
  ENOENT: 'no such file or directory',
  EACCES: 'permission denied',
  ETIMEDOUT: 'connection timed out',
  EINVAL: 'invalid argument',
};

/** `where`: the network and the address, `tcp 10.0.0.1:443`. */
export function dialErrorText(error: unknown, where: string): string {
  // With several addresses for a name, each has its own failure; the first is reported, as kube-apiserver does.
  const first = error instanceof AggregateError ? ((error.errors as unknown[])[0] ?? error) : error;
  const { code, syscall, hostname, message, address, port } = first as NodeJS.ErrnoException & {
    readonly hostname?: string;
    readonly address?: string;
    readonly port?: number;
  };
  if (syscall === 'getaddrinfo') return `dial tcp: lookup ${hostname ?? ''}: no such host`;
  const shown = where.startsWith('tcp ') && address !== undefined ? `tcp ${joined(address, port ?? 0)}` : where;
  return `dial ${shown}: connect: ${(code === undefined ? undefined : CONNECT_TEXTS[code]) ?? message}`;
}

const joined = (address: string, port: number): string =>
  address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

/** What an established connection that breaks is called. */
const READ_TEXTS: Readonly<Record<string, string>> = {
  ECONNRESET: 'EOF',
  EPIPE: 'write: broken pipe',
  HPE_INVALID_CONSTANT: 'malformed HTTP response',
  HPE_INVALID_VERSION: 'malformed HTTP version',
  HPE_INVALID_STATUS: 'malformed HTTP status code',
  HPE_HEADER_OVERFLOW: 'net/http: server response headers exceeded limit',
};

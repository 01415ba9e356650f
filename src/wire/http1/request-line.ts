// The first line of a request, read as strictly as Go reads it.
import { TOKEN } from '../../lib/http/http1/fields.js';
import { decodePath } from '../../lib/http/request-target.js';

export interface RequestLine {
  readonly method: string;
  /** As sent, still percent-encoded, without the query. */
  readonly path: string;
  readonly search: string;
  readonly version: '1.0' | '1.1';
  /** From a target that is a whole URL, or from CONNECT; it goes before the Host header. */
  readonly authority: string | undefined;
}

/** The answer to what is no request, after which the connection ends. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
  /** What is said beneath, where it is not the first line again. */
  readonly body?: string;
}

export const BAD_REQUEST: Refusal = { status: 400, text: '' };
export const TOO_LARGE: Refusal = { status: 431, text: '' };
const UNKNOWN_VERSION: Refusal = { status: 505, text: 'unsupported protocol version' };

/** Exactly three words with one space between: a method that is a token, a target, a version. */
export function parseRequestLine(line: string): RequestLine | Refusal {
  const first = line.indexOf(' ');
  const second = first < 0 ? -1 : line.indexOf(' ', first + 1);
  if (second < 0) return BAD_REQUEST;
  const method = line.slice(0, first);
  const target = line.slice(first + 1, second);
  const protocol = line.slice(second + 1);
  if (!TOKEN.test(method) || target === '' || CONTROL.test(target) || !/^HTTP\/\d\.\d$/.test(protocol)) {
    return BAD_REQUEST;
  }
  if (!protocol.startsWith('HTTP/1.')) return UNKNOWN_VERSION;
  const parts = partsOf(method, target);
  if (parts === undefined || decodePath(parts.path) === undefined) return BAD_REQUEST;
  const { path, search, authority } = parts;
  return { method, path, search, version: protocol === 'HTTP/1.0' ? '1.0' : '1.1', authority };
}

const CONTROL = /[\x00-\x20\x7f]/;
const WHOLE_URL = /^[A-Za-z][A-Za-z0-9+.-]*:/;

type Target = Pick<RequestLine, 'path' | 'search' | 'authority'>;

// hot: nearly every target is a path.
function partsOf(method: string, target: string): Target | undefined {
  if (target.startsWith('/')) return pathOf(target, undefined);
  if (method === 'CONNECT') return pathOf('', target);
  if (target === '*') return pathOf('*', undefined);
  const scheme = WHOLE_URL.exec(target)?.[0];
  if (scheme === undefined) return undefined;
  if (!target.startsWith('//', scheme.length)) return pathOf('', '');
  const rest = target.slice(scheme.length + 2);
  const end = rest.search(/[/?]/);
  return end < 0 ? pathOf('', rest) : pathOf(rest.slice(end), rest.slice(0, end));
}

function pathOf(text: string, authority: string | undefined): Target {
  const question = text.indexOf('?');
  return question < 0
    ? { path: text, search: '', authority }
    : { path: text.slice(0, question), search: text.slice(question + 1), authority };
}

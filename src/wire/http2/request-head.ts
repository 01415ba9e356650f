// The header fields of a request as a value, once they are found to be one: RFC 9113, sections 8.2 and 8.3.
import { addField, isFieldValue, parseContentLength, TOKEN } from '../../lib/http/http1/fields.js';
import { decodePath } from '../../lib/http/request-target.js';
import { OF_CONNECTIONS } from './connection-headers.js';

/** Shared by all requests that sent the same bytes, and frozen for that. */
export interface RequestHead {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly rawHeaders: readonly string[];
  /** -1 without a Content-Length. */
  readonly contentLength: number;
  /** The client waits for `100 Continue` before it sends its body. */
  readonly expectsContinue: boolean;
}

interface Pseudo {
  method: string | undefined;
  scheme: string | undefined;
  path: string | undefined;
  authority: string | undefined;
}

export type SentHeaders = Pick<RequestHead, 'headers' | 'rawHeaders'>;

const NONE: readonly SentHeaders[] = [];

/**
 * `fields` alternates names and values. Undefined for a malformed request. Clients mostly send the headers of one of their
 * `recent` requests again, with another path.
 */
export function parseRequestHead(
  fields: readonly string[],
  recent: readonly SentHeaders[] = NONE,
): RequestHead | undefined {
  const pseudo: Pseudo = { method: undefined, scheme: undefined, path: undefined, authority: undefined };
  const first = readPseudo(fields, pseudo);
  if (first < 0 || !isPseudoWhole(pseudo)) return undefined;
  const same = recent.find((sent) => isRest(fields, first, sent.rawHeaders));
  const rawHeaders = same?.rawHeaders ?? Object.freeze(fields.slice(first));
  const headers = same?.headers ?? collectHeaders(rawHeaders);
  if (headers === undefined) return undefined;
  const { method = '', path: target = '', authority } = pseudo;
  const { host, expect } = headers;
  if (host !== undefined && authority !== undefined && host.toLowerCase() !== authority.toLowerCase()) return undefined;
  const length = headers['content-length'];
  const contentLength = length === undefined ? -1 : parseContentLength(length);
  if (contentLength === undefined) return undefined;
  const question = target.indexOf('?');
  const path = question < 0 ? target : target.slice(0, question);
  if (!isPath(method, path)) return undefined;
  return {
    method,
    path,
    search: question < 0 ? '' : target.slice(question + 1),
    host: authority ?? host ?? '',
    headers,
    rawHeaders,
    contentLength,
    expectsContinue: expect?.toLowerCase() === '100-continue',
  };
}

/** Trailers have no pseudo fields and say nothing that anybody here reads. */
export const areTrailers = (fields: readonly string[]): boolean => collectHeaders(fields) !== undefined;

function isRest(fields: readonly string[], first: number, rest: readonly string[]): boolean {
  if (fields.length - first !== rest.length) return false;
  for (let i = 0; i < rest.length; i++) if (fields[first + i] !== rest[i]) return false;
  return true;
}

/** Where the others begin; negative when a pseudo field is unknown, or sent twice. */
function readPseudo(fields: readonly string[], pseudo: Pseudo): number {
  let at = 0;
  for (; at < fields.length; at += 2) {
    const name = fields[at] as string;
    const value = fields[at + 1] as string;
    if (name === ':method' && pseudo.method === undefined) pseudo.method = value;
    else if (name === ':scheme' && pseudo.scheme === undefined) pseudo.scheme = value;
    else if (name === ':path' && pseudo.path === undefined) pseudo.path = value;
    else if (name === ':authority' && pseudo.authority === undefined) pseudo.authority = value;
    else return name.startsWith(':') ? -1 : at;
  }
  return at;
}

const NOT_IN_TARGETS = /[\x00-\x20\x7f]/;

function isPseudoWhole({ method, scheme, path, authority }: Pseudo): boolean {
  if (method === undefined || !TOKEN.test(method)) return false;
  // Who signs in by the address is not let on.
  if (authority !== undefined && (NOT_IN_TARGETS.test(authority) || authority.includes('@'))) return false;
  if (method === 'CONNECT') return scheme === undefined && path === undefined && authority !== undefined;
  return (scheme === 'https' || scheme === 'http') && path !== undefined && path !== '' && !NOT_IN_TARGETS.test(path);
}

/** What is no path is no request, as in kube-apiserver. */
const isPath = (method: string, path: string): boolean =>
  path.startsWith('/') ? decodePath(path) !== undefined : path === '*' || method === 'CONNECT';

// hot: frozen objects of a class share a shape, where each frozen Object.create(null) has its own, which misses all caches.
class HeaderFields {
  [name: string]: string | undefined;
}
// Names are the client's: none of them must reach what a prototype has.
Object.setPrototypeOf(HeaderFields.prototype, null);
Reflect.deleteProperty(HeaderFields.prototype, 'constructor');

/** Undefined when one of them must not be sent. */
function collectHeaders(fields: readonly string[]): RequestHead['headers'] | undefined {
  const headers = new HeaderFields();
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] as string;
    const value = fields[i + 1] as string;
    // Spaces around a value are malformed by RFC 9113, but Go's clients send them and its servers accept them.
    if (!isLowerToken(name) || !isFieldValue(value) || OF_CONNECTIONS.has(name)) return undefined;
    if (name === 'te' && value !== 'trailers') return undefined;
    if (name === 'host' && headers['host'] !== undefined) return undefined;
    addField(headers, name, value);
  }
  return Object.freeze(headers);
}

const NAME = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
const isLowerToken = (name: string): boolean => NAME.test(name);

// URLs as Go reads them: what people see when a URL in an object is wrong is Go's own words.
import { goQuote } from './quote.js';

export interface GoUrl {
  readonly scheme: string;
  /** The authority without its user part: host and port. */
  readonly host: string;
  /** As written, before the `@`. */
  readonly user: string | undefined;
  /** What follows the scheme of a URL that has no path from the root: `mailto:who`. */
  readonly opaque: string;
  readonly path: string;
  readonly rawQuery: string;
  readonly fragment: string;
}

/** The parts of a URL, or Go's words for why it is none. */
export function parseGoUrl(raw: string): GoUrl | { readonly error: string } {
  const [beforeFragment, fragment = ''] = cut(raw, '#');
  try {
    const url = parse(beforeFragment, fragment);
    checkEscapes(fragment);
    return url;
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return { error: `parse ${goQuote(beforeFragment)}: ${error.message}` };
  }
}

/** As parseGoUrl, for what stands in a request line: an absolute URL or a path from the root, no fragment cut off. */
export function parseGoRequestUri(raw: string): GoUrl | { readonly error: string } {
  try {
    if (raw === '') throw new UrlError('empty url');
    return parse(raw, '', true);
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return { error: `parse ${goQuote(raw)}: ${error.message}` };
  }
}

class UrlError extends Error {}

function parse(raw: string, fragment: string, inRequest = false): GoUrl {
  if (/[\x00-\x1f\x7f]/.test(raw)) throw new UrlError('net/url: invalid control character in URL');
  const url = {
    scheme: '',
    host: '',
    user: undefined as string | undefined,
    opaque: '',
    path: '',
    rawQuery: '',
    fragment,
  };
  if (raw === '*') return { ...url, path: '*' };
  let rest = raw;
  const colon = /^[A-Za-z0-9+\-.]*:/.exec(raw);
  if (raw.startsWith(':')) throw new UrlError('missing protocol scheme');
  if (colon !== null && /^[A-Za-z]/.test(raw)) {
    url.scheme = colon[0].slice(0, -1).toLowerCase();
    rest = raw.slice(colon[0].length);
  }
  const [beforeQuery, query = ''] = cut(rest, '?');
  url.rawQuery = query;
  rest = beforeQuery;
  if (!rest.startsWith('/')) {
    if (url.scheme !== '') return { ...url, opaque: rest };
    if (inRequest) throw new UrlError('invalid URI for request');
    if (rest.split('/')[0]?.includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  }
  if (rest.startsWith('//') && (url.scheme !== '' || !rest.startsWith('///'))) {
    const slash = rest.indexOf('/', 2);
    const authority = slash < 0 ? rest.slice(2) : rest.slice(2, slash);
    rest = slash < 0 ? '' : rest.slice(slash);
    Object.assign(url, parseAuthority(authority));
  }
  checkEscapes(rest);
  return { ...url, path: rest };
}

function parseAuthority(authority: string): { host: string; user: string | undefined } {
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  checkHost(host);
  if (at < 0) return { host, user: undefined };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError('net/url: invalid userinfo');
  checkEscapes(user);
  return { host, user };
}

function checkHost(host: string): void {
  let port = '';
  if (host.startsWith('[')) {
    const end = host.lastIndexOf(']');
    if (end < 0) throw new UrlError("missing ']' in host");
    port = host.slice(end + 1);
  } else if (host.includes(':')) {
    port = host.slice(host.lastIndexOf(':'));
  }
  if (!/^(:[0-9]*)?$/.test(port)) throw new UrlError(`invalid port ${goQuote(port)} after host`);
  checkEscapes(host);
  const escape = /%(?!25)[0-7][0-9A-Fa-f]/.exec(host);
  if (escape !== null) throw new UrlError(`invalid URL escape ${goQuote(escape[0])}`);
  const bad = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/.exec(host);
  if (bad !== null) throw new UrlError(`invalid character ${goQuote(bad[0])} in host name`);
}

function checkEscapes(text: string): void {
  const bad = /%(?![0-9A-Fa-f]{2})/.exec(text);
  if (bad !== null) throw new UrlError(`invalid URL escape ${goQuote(text.slice(bad.index, bad.index + 3))}`);
}

function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
}

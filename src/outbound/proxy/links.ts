// Addresses in answers, so that they lead through the proxy again.
import { cleanPath } from '../../lib/text/clean-path.js';
import { parseGoUrl } from '../../lib/go/url.js';
import { escapedPathOf, escapePath, goUrlText } from '../../lib/go/url-parts.js';
import { percentDecode } from '../../lib/http/percent-decode.js';

export interface LinkRules {
  /** What addresses get in front of the other server's own path. */
  readonly prefix: string;
  /** Written into addresses that are rewritten; both empty where they stay relative. */
  readonly scheme: string;
  readonly host: string;
  /** The other server, as it was reached. */
  readonly sourceHost: string;
  /** The `Host` header of the request to the other server. */
  readonly requestHost: string;
}

/** The part of `path` before the other server's own path, which it ends with. Both are decoded. */
export function prefixOf(path: string, ownPath: string): string {
  const suffix = path.endsWith('/') && !ownPath.endsWith('/') ? `${ownPath}/` : ownPath;
  return path.endsWith(suffix) ? path.slice(0, path.length - suffix.length) : path;
}

/** `X-Forwarded-Uri`: where the client thinks it is. */
export function forwardedUri(prefix: string, ownPath: string): string {
  const uri = cleanPath(prefix, escapePath(ownPath));
  return ownPath.endsWith('/') ? `${uri}/` : uri;
}

/** The address as the client must write it, or why nobody can read it. */
export function rewriteLink(text: string, rules: LinkRules): string | { readonly error: string } {
  const url = parseGoUrl(text);
  if ('error' in url) return url;
  const isElsewhere = url.host !== '' && url.host !== rules.sourceHost && url.host !== rules.requestHost;
  if (isElsewhere || !url.path.startsWith('/')) return goUrlText(url);
  const isOwn = url.host === rules.requestHost && rules.scheme === '' && rules.host === '';
  const at = isOwn ? url : { ...url, scheme: rules.scheme, host: rules.host };
  const path = percentDecode(escapedPathOf(url));
  if (path.startsWith(rules.prefix)) return goUrlText(at);
  const joined = cleanPath(rules.prefix, path);
  return goUrlText({ ...at, path: escapePath(path.endsWith('/') ? `${joined}/` : joined) });
}

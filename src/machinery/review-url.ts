import { cleanPath } from '../lib/text/clean-path.js';
import { formatDurationMs } from './time.js';

/** Where a review is posted: the server's address with nothing but its path, and how long it may take. */
export function reviewUrl(server: URL, timeoutMs: number): URL {
  const url = new URL(server);
  url.pathname = cleanPath(url.pathname);
  url.hash = '';
  url.search = `?timeout=${encodeURIComponent(formatDurationMs(timeoutMs))}`;
  return url;
}

import { formatDurationMs } from './time.js';

/** Where a review is posted: the server's address with nothing but its path, and how long it may take. */
export function reviewUrl(server: URL, timeoutMs: number): URL {
  const url = new URL(server);
  while (url.pathname.endsWith('/') && url.pathname !== '/') url.pathname = url.pathname.slice(0, -1);
  url.hash = '';
  url.search = `?timeout=${encodeURIComponent(formatDurationMs(timeoutMs))}`;
  return url;
}

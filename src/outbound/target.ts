import type { DialTarget } from './dialer.js';

/** Where a URL's server is; the scheme's port where it names none. */
export const targetOf = (url: URL): DialTarget => ({
  host: url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname,
  port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port),
});

// Who a request is made for, in the headers that extension servers read.
import type { UserInfo } from '../machinery/user.js';
import type { Headers } from '../outbound/proxy/headers.js';

export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): Headers {
  // By name, as the reference sends them.
  const headers: Headers = {};
  const keys = Object.keys(extra).map((key) => [escapedKey(key), extra[key] ?? []] as const);
  for (const [key, values] of keys.sort(([a], [b]) => (a < b ? -1 : 1))) headers[`x-remote-extra-${key}`] = values;
  if (groups.length > 0) headers['x-remote-group'] = groups;
  if (uid !== undefined && uid !== '') headers['x-remote-uid'] = uid;
  headers['x-remote-user'] = name;
  return headers;
}

const TOKEN = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz";

/** What no header's name may have is written by its bytes; so is the sign that says so. */
const escapedKey = (key: string): string =>
  Array.from(Buffer.from(key.toLowerCase(), 'utf8'), (byte) => {
    const char = String.fromCharCode(byte);
    return TOKEN.includes(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');

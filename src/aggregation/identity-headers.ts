// Who a request is made for, in the headers that extension servers read.
import { headerBytes } from '../lib/http/header-text.js';
import type { UserInfo } from '../machinery/user.js';
import { escapedHeaderKey } from '../outbound/escaped-header-key.js';
import type { Headers } from '../outbound/proxy/headers.js';

export function identityHeaders({ name, uid, groups, extra = {} }: UserInfo): Headers {
  // By name, as kube-apiserver sends them.
  const headers: Headers = {};
  const keys = Object.keys(extra).map((key) => [escapedHeaderKey(key), extra[key] ?? []] as const);
  for (const [key, values] of keys.sort(([a], [b]) => (a < b ? -1 : 1))) {
    headers[`x-remote-extra-${key}`] = values.map(headerBytes);
  }
  if (groups.length > 0) headers['x-remote-group'] = groups.map(headerBytes);
  if (uid !== undefined && uid !== '') headers['x-remote-uid'] = headerBytes(uid);
  headers['x-remote-user'] = headerBytes(name);
  return headers;
}

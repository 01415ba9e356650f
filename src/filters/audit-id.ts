import { firstHeader } from '../lib/http/http.js';
import { Uuids } from './uuids.js';
import type { Filter } from './exchange.js';

const ids = new Uuids();

/** Every request has an id, the client's own or a new one, and the answer says it. */
export const auditId: Filter = (exchange, next) => {
  const sent = firstHeader(exchange.request, 'audit-id');
  const isOwn = sent === undefined || sent === '';
  const id = isOwn ? ids.next() : sent;
  exchange.auditId = id;
  exchange.hasOwnAuditId = isOwn;
  exchange.responseHeaders['audit-id'] = id;
  return next(exchange);
};

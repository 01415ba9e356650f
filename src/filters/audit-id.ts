import { firstHeader } from '../lib/http.js';
import { randomUUID } from 'node:crypto';
import type { Filter } from './exchange.js';

/** Every request has an id, the client's own or a new one, and the answer says it. */
export const auditId: Filter = (exchange, next) => {
  const sent = firstHeader(exchange.request, 'audit-id');
  const isOwn = sent === undefined || sent === '';
  const id = isOwn ? randomUUID() : sent;
  exchange.auditId = id;
  exchange.hasOwnAuditId = isOwn;
  exchange.responseHeaders['audit-id'] = id;
  return next(exchange);
};

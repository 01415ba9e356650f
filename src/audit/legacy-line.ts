// An event as one line of text: `--audit-log-format=legacy`, and the server's own log when an event was lost.
import { goQuote } from '../lib/go/quote.js';
import type { AuditEvent } from './event.js';
import { microTimeOf } from './micro-time.js';

export function legacyLine(event: AuditEvent): string {
  const { request, impersonatedUser: as } = event;
  const { user } = request;
  const named = user !== undefined && user.name !== '';
  const fields = [
    ['id', event.auditId],
    ['stage', event.stage],
    ['ip', request.sourceIps[0] ?? '<unknown>'],
    ['method', request.verb],
    ['user', named ? user.name : '<none>'],
    ['groups', named && user.groups.length > 0 ? quotedList(user.groups) : '<none>'],
    ['as', as === undefined ? '<self>' : as.name],
    ['asgroups', as === undefined ? '<lookup>' : quotedList(as.groups)],
    ['user-agent', request.userAgent],
    ['namespace', request.namespace === '' ? '<none>' : request.namespace],
    ['uri', request.uri],
  ] as const;
  const text = fields.map(([name, value]) => `${name}=${goQuote(value)}`).join(' ');
  const response = event.response === undefined ? '<deferred>' : String(event.response.code);
  return `${withoutTrailingZeros(microTimeOf(event.receivedMs, 0))} AUDIT: ${text} response="${response}"`;
}

const quotedList = (texts: readonly string[]): string => texts.map(goQuote).join(',');

/** A fraction of a second, without trailing zeros. */
function withoutTrailingZeros(time: string): string {
  let end = time.length - 1;
  while (time[end - 1] === '0') end--;
  if (time[end - 1] === '.') end--;
  return `${time.slice(0, end)}Z`;
}

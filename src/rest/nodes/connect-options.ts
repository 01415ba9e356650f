// What a client that connects requests, as an object that admission can review.
import { goQuote } from '../../lib/go/quote.js';
import type { RequestInfo } from '../../machinery/request-info.js';
import { badRequest } from '../../machinery/status.js';
import { flag } from '../contract/query-options.js';

/** The options of a connecting subresource, from the query and what comes after the subresource in the path. */
export function connectOptions(kind: string, apiVersion: string, query: URLSearchParams, info: RequestInfo): object {
  const head = { kind, apiVersion };
  switch (kind) {
    case 'PodExecOptions': {
      const command = query.getAll('command');
      return { ...head, ...streams(query), command: command.length === 0 ? null : command };
    }
    case 'PodAttachOptions':
      return { ...head, ...streams(query) };
    case 'PodPortForwardOptions': {
      const ports = portsOf(query);
      return { ...head, ...(ports.length > 0 && { ports }) };
    }
    default: {
      const path = pathAfter(info);
      return { ...head, ...(path !== '' && { path }) };
    }
  }
}

function streams(query: URLSearchParams): object {
  const container = query.get('container') ?? '';
  const wanted = ['stdin', 'stdout', 'stderr', 'tty'].filter((name) => flag(query, name) === true);
  return { ...Object.fromEntries(wanted.map((name) => [name, true])), ...(container !== '' && { container }) };
}

/** By several parameters, or by one with commas. */
export function portsOf(query: URLSearchParams): readonly number[] {
  const texts = query.getAll('ports').flatMap((text) => text.split(','));
  return texts.map((text) => {
    if (!/^\d+$/.test(text)) throw noPort(text, 'invalid syntax');
    if (Number(text) > MAX_PORT) throw noPort(text, 'value out of range');
    return Number(text);
  });
}

const MAX_PORT = 65_535;

const noPort = (text: string, why: string): Error =>
  badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`);

/** With a slash before it, and after it where the request has one. */
export function pathAfter({ parts, path }: RequestInfo): string {
  const rest = parts.slice(3).join('/');
  const rooted = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !rooted.endsWith('/') ? `${rooted}/` : rooted;
}

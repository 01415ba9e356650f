// What a client that connects asks for, as an object that admission can look at.
import type { RequestInfo } from '../machinery/request-info.js';

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
      const ports = query.getAll('ports').flatMap((text) => text.split(',').map(Number));
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
  const wanted = ['stdin', 'stdout', 'stderr', 'tty'].filter((name) => isOn(query.get(name)));
  return { ...Object.fromEntries(wanted.map((name) => [name, true])), ...(container !== '' && { container }) };
}

const isOn = (text: string | null): boolean => text !== null && text !== '0' && text.toLowerCase() !== 'false';

/** With a slash before it, and after it where the request has one. */
function pathAfter({ parts, path }: RequestInfo): string {
  const rest = parts.slice(3).join('/');
  const rooted = rest === '' || rest.startsWith('/') ? rest : `/${rest}`;
  return path.endsWith('/') && !rooted.endsWith('/') ? `${rooted}/` : rooted;
}

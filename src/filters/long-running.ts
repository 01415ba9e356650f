import type { RequestInfo } from '../machinery/request-info.js';

const VERBS: ReadonlySet<string> = new Set(['watch', 'proxy']);
const SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);

/** Requests that may last as long as they like: no timeout, no count against the limits, not waited for at shutdown. */
export function isLongRunning(info: RequestInfo): boolean {
  if (VERBS.has(info.verb)) return true;
  if (info.isResourceRequest) return info.subresource !== '' && SUBRESOURCES.has(info.subresource);
  return info.path.startsWith('/debug/pprof/');
}

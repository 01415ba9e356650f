import type { RequestInfo } from './request-info.js';

/** How much a request is about: one object, a namespace, the cluster; empty for what is no resource. */
export function requestScope(info: RequestInfo): string {
  if (info.name !== '' || info.verb === 'create') return 'resource';
  if (info.namespace !== '') return 'namespace';
  return info.isResourceRequest ? 'cluster' : '';
}

// The spans of storage, as collectors know them from kube-apiserver.
import type { Attributes, Span, Trace } from '../tracing/trace.js';
import { groupResourceText } from '../machinery/status.js';
import { trimEnd } from '../lib/text/trim-end.js';
import type { ListRequest, ResourceStoreOptions } from './store.js';

/** Undefined where nothing is recorded. */
export const recordCreate = (trace: Trace | undefined, options: ResourceStoreOptions, key: string): Span | undefined =>
  trace?.span && trace.span.child('Create etcd3', objectAttributes(trace.span, options, key));

export const recordUpdate = (trace: Trace | undefined, options: ResourceStoreOptions, key: string): Span | undefined =>
  trace?.span && trace.span.child('GuaranteedUpdate etcd3', objectAttributes(trace.span, options, key));

/** An update that changes nothing finds that out once it has the bytes. */
export function noteUnchanged(span: Span | undefined, bytes: Buffer): void {
  span?.event('About to Encode');
  span?.event('Encode succeeded', { len: bytes.length });
}

export function recordList(
  trace: Trace | undefined,
  options: ResourceStoreOptions,
  request: ListRequest,
): Span | undefined {
  const span = trace?.span;
  return span?.child('List(recursive=true) etcd3', {
    'audit-id': span.auditId,
    key: shownKey(options, request.namespace === '' ? '' : `${request.namespace}/`),
    resourceVersion: request.resourceVersion,
    resourceVersionMatch: request.resourceVersionMatch,
    limit: request.limit,
    continue: request.continue,
  });
}

/** kube-apiserver finds out how far the store is by a list of nothing. */
export function recordRevision(trace: Trace | undefined, options: ResourceStoreOptions): Span | undefined {
  const span = trace?.span;
  return span?.child('List(recursive=false) etcd3', {
    'audit-id': span.auditId,
    key: trimEnd(shownKey(options, ''), '/'),
    resourceVersion: '',
    resourceVersionMatch: '',
    limit: 1,
    continue: '',
  });
}

/** Starts the span without events; `noteRead` adds them. */
export function recordCachedGet(
  trace: Trace | undefined,
  options: ResourceStoreOptions,
  key: string,
  minRevision: string,
): Span | undefined {
  const above = trace?.span;
  if (above === undefined) return undefined;
  const attributes = { 'audit-id': above.auditId, key: shownKey(options, key), 'resource-version': minRevision };
  return above.child('cacher.Get', attributes);
}

/** Adds the event that kube-apiserver records before a read of the most recent version, or of any other. */
export const noteRead = (span: Span | undefined, minRevision: string): void =>
  span?.event(minRevision === '' ? 'About to Get from underlying storage' : 'About to fetch object from cache');

/** Records a read of the most recent version that kube-apiserver makes and this server answers from memory. */
export function recordKnownRead(trace: Trace | undefined, options: ResourceStoreOptions, key: string): void {
  const span = recordCachedGet(trace, options, key, '');
  noteRead(span, '');
  span?.end();
}

export function recordCachedList(trace: Trace | undefined, { resource }: ResourceStoreOptions): Span | undefined {
  const span = trace?.span;
  return span?.child('cacher.GetList', { 'audit-id': span.auditId, type: groupResourceText(resource) });
}

function objectAttributes({ auditId }: Span, options: ResourceStoreOptions, key: string): Attributes {
  const { group, resource } = options.resource;
  return { 'audit-id': auditId, key: shownKey(options, key), type: options.typeName ?? '', group, resource };
}

const shownKey = ({ prefix, root = '' }: ResourceStoreOptions, key: string): string =>
  (prefix.startsWith(root) ? prefix.slice(root.length) : prefix) + key;

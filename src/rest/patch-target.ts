// What a patch of an endpoint's objects works on.
import type { Versions } from '../schema/apply/versions.js';
import type { Endpoint } from './endpoint.js';
import { noteSteps, resetFieldsOf } from './note-write.js';
import type { PatchKind, PatchTarget } from './patch-kinds.js';

export const encodingOf = (kind: PatchKind): 'json' | 'yaml' | 'cbor' =>
  kind === 'apply' ? 'yaml' : kind === 'apply-cbor' ? 'cbor' : 'json';

export function targetOf(endpoint: Endpoint, subresource: string, now: Date, versions: Versions): PatchTarget {
  return {
    type: endpoint.type,
    kind: endpoint.kind,
    defaults: (object) => endpoint.version.defaults?.(object),
    unconvertible: (object) => endpoint.version.unconvertible?.(object),
    note: (live, object, manager, reset) =>
      noteSteps(endpoint, { live, object, manager, subresource, now, reset, versions }),
    resetFields: resetFieldsOf(endpoint, subresource),
    versions,
  };
}

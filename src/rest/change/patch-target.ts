// What a patch of an endpoint's objects works on.
import type { Versions } from '../../schema/apply/versions.js';
import type { Endpoint } from '../contract/endpoint.js';
import { trackManagers, resetFieldsOf } from './track-managers.js';
import type { PatchKind, PatchTarget } from '../patch/patch-kinds.js';

export const encodingOf = (kind: PatchKind): 'json' | 'yaml' | 'cbor' =>
  kind === 'apply' ? 'yaml' : kind === 'apply-cbor' ? 'cbor' : 'json';

export function targetOf(endpoint: Endpoint, subresource: string, now: Date, versions: Versions): PatchTarget {
  return {
    type: endpoint.type,
    kind: endpoint.kind,
    defaults: (object) => endpoint.version.defaults?.(object),
    unconvertible: (object) => endpoint.version.unconvertible?.(object),
    note: (live, object, manager, reset) =>
      trackManagers(endpoint, { live, object, manager, subresource, now, reset, versions }),
    resetFields: resetFieldsOf(endpoint, subresource),
    versions,
    statusOnly: subresource === 'status' && isStoredVersion(endpoint),
  };
}

/** What is patched is what is stored, not what was converted from it. */
const isStoredVersion = ({ version, type }: Endpoint): boolean =>
  version.toStorage === undefined && version.fromStorage === undefined && type.unstructured === undefined;

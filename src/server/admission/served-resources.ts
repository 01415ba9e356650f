import type { ResourceMatch } from '../../admission/matching/resource-match.js';
import type { ServedResources } from '../../admission/matching/seen-request.js';
import { offload } from '../../lib/async/worker-pool.js';
import { decodeChanged } from '../../rest/body/decode-changed.js';
import { treeBytes, workOnTree } from '../../machinery/size-hint.js';
import { apiVersionOf, type JsonObject, type KubeObject } from '../../machinery/object.js';
import { workersFor } from '../../registry/registry.js';
import { fromStorage } from '../../registry/storage-status.js';
import { type Endpoint, inVersion } from '../../rest/contract/endpoint.js';
import { decodeTree } from '../../schema/json/decode.js';
import { typeOf } from '../../schema/catalogue.js';
import { encodeJson } from '../../schema/json/encode.js';
import { encodePieces } from '../../schema/json/encode-pieces.js';
import { mutateOnWorker } from '../worker/mutate.worker.js';
import { patchOnWorker } from '../worker/patch.worker.js';
import type { Resources } from '../kinds/resources.js';

/** What admission policies know of the resources: names with the same objects behind them, and their versions. */
export const servedResources = (resources: Resources): ServedResources => ({
  equivalentsOf(resource) {
    const found = resources.find(resource.group, resource.version, resource.resource);
    if (found === undefined) return [];
    return resources.sharing(found).map(({ resource: other, kind }) => ({ resource: other, kind }));
  },
  inVersion({ group, version, resource }, stored) {
    const endpoint = resources.find(group, version, resource);
    return endpoint === undefined || endpoint.kind.kind !== stored.kind ? stored : inVersion(endpoint, stored);
  },
  convert({ group, version, resource }, object) {
    const endpoint = resources.find(group, version, resource);
    if (endpoint?.definition.storage?.convert === undefined || endpoint.kind.kind !== object.kind) return undefined;
    const apiVersion = apiVersionOf(endpoint.kind);
    return object.apiVersion === apiVersion ? undefined : converted(endpoint, object, apiVersion);
  },
  encode({ group, version, resource }, kind, object) {
    const endpoint = resources.find(group, version, resource);
    const type = endpoint?.kind.kind === kind.kind ? endpoint.type : typeOf(kind.group, kind.version, kind.kind);
    if (type === undefined) throw new Error(`the catalogue has no ${kind.kind} in ${kind.group}/${kind.version}`);
    const work = workOnTree(object);
    return work.isLarge ? work.run(encodePieces(type, object, 'sent')) : encodeJson(type, object);
  },
  toStored({ group, version, resource }, kind, tree, strict) {
    const endpoint = resources.find(group, version, resource);
    if (endpoint === undefined) throw new Error(`${resource} of ${group}/${version} are not served`);
    return decodeChanged(endpoint, kind, tree, strict);
  },
  patch(matched, object, patch, inline) {
    const endpoint = endpointOf(resources, matched);
    if (endpoint === undefined) return inline();
    return offload(
      workersFor(endpoint.registry, Math.max(patch.length, treeBytes(object))),
      (workers) => patchOnWorker(workers, endpoint, object, patch),
      inline,
    );
  },
  mutate(matched, object, mutation, inline) {
    const endpoint = endpointOf(resources, matched);
    if (endpoint === undefined) return inline();
    return offload(
      workersFor(endpoint.registry, Math.max(treeBytes(object), treeBytes(mutation))),
      (workers) => mutateOnWorker(workers, endpoint, object, mutation),
      inline,
    );
  },
  typeOf: resources.typeOf,
});

/** Whose objects others have changed, where they are seen as they are stored. */
function endpointOf(resources: Resources, { resource, kind }: ResourceMatch): Endpoint | undefined {
  const endpoint = resources.find(resource.group, resource.version, resource.resource);
  return endpoint?.kind.kind === kind.kind && endpoint.storedShape ? endpoint : undefined;
}

async function converted(endpoint: Endpoint, object: Readonly<KubeObject>, apiVersion: string): Promise<KubeObject> {
  try {
    const made = await endpoint.definition.storage?.convert?.(object as JsonObject & KubeObject, apiVersion);
    return decodeTree(endpoint.type, made, { strict: false }).object as unknown as KubeObject;
  } catch (error) {
    throw fromStorage(error, endpoint.resource, object.metadata.name ?? '');
  }
}

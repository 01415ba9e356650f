// Applies manifests in an order that works: what others need comes first.
import { type ApiClient, failureText } from './api-client.js';
import { readManifests } from './read-manifests.js';
import { collectionPath, notServed } from './resource-paths.js';
import type { KubernetesObject, Manifests } from './types.js';
import { waitFor } from './wait-for.js';

const FIELD_MANAGER = 'binnacle-testing';
const CRD = 'CustomResourceDefinition';
/** What the others live in, or are kinds of. */
const FIRST: readonly string[] = [CRD, 'Namespace'];

export async function apply(api: ApiClient, manifests: Manifests): Promise<KubernetesObject[]> {
  const objects = readManifests(manifests);
  const applied = new Map<KubernetesObject, KubernetesObject>();
  for (const kind of FIRST) {
    const ofKind = objects.filter((object) => object.kind === kind);
    for (const object of ofKind) applied.set(object, await applyOne(api, object));
    if (kind === CRD) await Promise.all(ofKind.map((crd) => untilServed(api, crd)));
  }
  for (const object of objects) if (!applied.has(object)) applied.set(object, await applyOne(api, object));
  return objects.map((object) => applied.get(object) ?? object);
}

async function applyOne(api: ApiClient, object: KubernetesObject): Promise<KubernetesObject> {
  const { apiVersion, kind, metadata: { name, namespace } = {} } = object;
  if (name === undefined) throw new Error(`a ${kind} without metadata.name cannot be applied`);
  const collection = await collectionPath(api, { apiVersion, kind, namespace });
  if (collection === undefined) throw notServed(object);
  const at = `${collection}/${encodeURIComponent(name)}?fieldManager=${FIELD_MANAGER}&force=true`;
  const headers = { 'content-type': 'application/apply-patch+yaml' };
  const response = await api.request('PATCH', at, { body: object, headers });
  if (response.status >= 300) throw new Error(failureText(`apply ${kind} ${name}`, response.status, response.text));
  return response.json() as KubernetesObject;
}

async function untilServed(api: ApiClient, crd: KubernetesObject): Promise<void> {
  const name = crd.metadata?.name ?? '';
  await waitFor(api, { apiVersion: crd.apiVersion, kind: CRD, name }, 'condition=Established', {});
}

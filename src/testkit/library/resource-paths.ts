// Where a cluster serves a kind, by its discovery.
import type { ApiClient } from './api-client.js';

export interface ObjectPlace {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string | undefined;
}

interface ServedResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const DEFAULT_NAMESPACE = 'default';

/** The path of the kind's collection, in the namespace where the kind has namespaces; undefined if it is not served. */
export async function collectionPath(api: ApiClient, place: ObjectPlace): Promise<string | undefined> {
  const { apiVersion, kind, namespace = DEFAULT_NAMESPACE } = place;
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const response = await api.request('GET', root);
  if (response.status !== 200) return undefined;
  const { resources } = response.json() as { resources: readonly ServedResource[] };
  const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
  if (found === undefined) return undefined;
  const within = found.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${within}/${found.name}`;
}

export const notServed = ({ apiVersion, kind }: ObjectPlace): Error =>
  new Error(`the cluster serves no kind ${kind} in ${apiVersion}`);

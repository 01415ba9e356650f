// What another server serves, as its discovery says.
import { collectBody } from '../../outbound/http-client.js';
import type { HttpClient } from '../../outbound/http-client.js';
import { mustType } from '../../schema/catalogue.js';
import type { APIGroupDiscoveryList } from '../../schema/generated/apidiscovery.v2.js';
import { readForeign } from '../../schema/json/read-foreign.js';
import { identityHeaders } from '../identity-headers.js';
import { PEER_PROXIED } from './peer-proxied.js';

const ACCEPT = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const CLIENT = { name: 'system:apiserver', uid: 'system:apiserver', groups: ['system:authenticated'] };
const TIMEOUT_MS = 5000;
/** A document larger than this is not read. */
const MAX_BYTES = 8 * 1024 * 1024;

export const resourceKey = (group: string, version: string, resource: string): string =>
  `${group}/${version}/${resource}`;

/** The resources, as `resourceKey` writes them. Rejects when the server does not say. */
export async function fetchPeerDiscovery(
  client: HttpClient,
  host: string,
  observe: (status: number) => void,
): Promise<ReadonlySet<string>> {
  const type = mustType('io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList');
  const served = new Set<string>();
  const headers = { accept: ACCEPT, ...identityHeaders(CLIENT), [PEER_PROXIED]: 'true' };
  for (const path of ['/api', '/apis']) {
    const url = new URL(path, `https://${host}`);
    const response = await client.request({ method: 'GET', url, headers, timeoutMs: TIMEOUT_MS });
    observe(response.status);
    const bytes = await collectBody(response, MAX_BYTES);
    if (response.status !== 200) throw new Error(`discovery request failed with status: ${response.status}`);
    const list = (await readForeign(bytes, type)) as APIGroupDiscoveryList;
    for (const key of resourcesOf(list)) served.add(key);
  }
  return served;
}

function resourcesOf({ items }: APIGroupDiscoveryList): string[] {
  return (items ?? []).flatMap(({ metadata, versions = [] }) =>
    versions.flatMap(({ version, resources = [] }) =>
      resources.map(({ resource }) => resourceKey(metadata.name ?? '', version, resource)),
    ),
  );
}

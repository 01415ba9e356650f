// Where the kubelet of a node listens.
import { type GroupResource, notFound, StatusError } from '../../machinery/status.js';
import type { Lookup } from '../../registry/kind.js';
import type { Node } from '../../schema/generated/core.v1.js';
import type { NodeAccess } from '../contract/node-access.js';
import { type Origin, originOf } from './origin.js';

export interface KubeletLocation extends Origin {
  readonly hostname: string;
  readonly port: string;
}

const NODES = { group: '', resource: 'nodes' };

/** `requested`: the resource whose part was requested; a missing node is reported as one of those. */
export async function locateKubelet(
  { addressTypes, kubeletPort }: NodeAccess,
  lookup: Lookup,
  nodeName: string,
  requested: GroupResource,
): Promise<KubeletLocation> {
  const node = (await lookup.get(NODES, '', nodeName)) as unknown as Node | undefined;
  if (node === undefined) throw notFound(requested, nodeName);
  const hostname = preferredAddress(node, addressTypes);
  const reported = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const port = String(reported > 0 ? reported : kubeletPort);
  return { hostname, port, ...originOf('https', hostname, port) };
}

function preferredAddress(node: Node, types: readonly string[]): string {
  const known = node.status?.addresses ?? [];
  for (const type of types) {
    const found = known.find((one) => one.type === type);
    if (found !== undefined) return found.address;
  }
  const text = known.map(({ type, address }) => `{${type} ${address}}`).join(' ');
  throw new StatusError(500, '', `no preferred addresses found; known addresses: [${text}]`);
}

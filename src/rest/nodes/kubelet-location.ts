// Where the agent of a node listens.
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

/** `asked`: the resource whose part was asked for; a node that is missing is told as one of those. */
export async function locateKubelet(
  { addressTypes, kubeletPort }: NodeAccess,
  lookup: Lookup,
  nodeName: string,
  asked: GroupResource,
): Promise<KubeletLocation> {
  const node = (await lookup.get(NODES, '', nodeName)) as unknown as Node | undefined;
  if (node === undefined) throw notFound(asked, nodeName);
  const hostname = preferredAddress(node, addressTypes);
  const told = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  const port = String(told > 0 ? told : kubeletPort);
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

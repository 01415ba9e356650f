import type { KubeObject } from '../machinery/object.js';
import type { DeleteOptions } from '../registry/kind.js';
import type { Pod } from '../schema/generated/core.v1.js';
import type { ServerClient } from '../registry/server-client.js';
import { NODES } from './controller.js';

/**
 * A pod that is bound to a node ends when the kubelet says so. Where no such node exists nobody ever would: then
 * it is deleted at once.
 */
export async function podDeleteOptions(client: ServerClient, object: Readonly<KubeObject>): Promise<DeleteOptions> {
  const { nodeName } = (object as Pod).spec;
  if (!nodeName || (await client.get(NODES, '', nodeName)) !== undefined) return {};
  return { gracePeriodSeconds: 0 };
}

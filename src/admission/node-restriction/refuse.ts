import { goQuote } from '../../lib/go/quote.js';
import type { KubeObject } from '../../machinery/object.js';
import { type GroupResource, notFound, StatusError } from '../../machinery/status.js';
import type { LifeContext } from '../../registry/kind.js';

/** A refusal for whose cause kube-apiserver has no Status of its own. */
export const plainError = (why: string): StatusError => new StatusError(500, '', why);

/** Names of kinds in errors about objects a kubelet's request points to. */
type Singular =
  | 'pod'
  | 'node'
  | 'serviceaccount'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'csidriver.storage.k8s.io';

export const missing = (singular: Singular, name: string): string => `${singular} ${goQuote(name)} not found`;

/** The object, or the error that it is not there. */
export async function find(
  { lookup }: LifeContext,
  singular: 'pod' | 'node',
  namespace: string,
  name: string,
): Promise<KubeObject> {
  const found = await lookup.get({ group: '', resource: `${singular}s` }, namespace, name);
  if (found === undefined) throw notFound({ group: '', resource: singular } satisfies GroupResource, name);
  return found;
}

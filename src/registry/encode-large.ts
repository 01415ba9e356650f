import { runCooperatively } from '../lib/scheduling/yield.js';
import type { KubeObject } from '../machinery/object.js';
import { withoutResourceVersion } from '../storage/entry.js';
import type { ResourceRegistry } from './registry.js';

/** Brings the object into the form it is stored in: what was printed of it before counts only where that is the same. */
export const reusableEncoding = (
  { kind }: Pick<ResourceRegistry, 'kind'>,
  object: KubeObject,
  encoded: Buffer | undefined,
): Buffer | undefined => (kind.strategy.pruneForStorage?.(object) === true ? undefined : encoded);

/** What is stored of a large object, printed cooperatively. */
export async function encodeLarge({ store }: ResourceRegistry, object: KubeObject): Promise<Buffer> {
  const { codec } = store.options;
  const encoded = withoutResourceVersion(object);
  return codec.encodePieces === undefined ? codec.encodeJson(encoded) : runCooperatively(codec.encodePieces(encoded));
}

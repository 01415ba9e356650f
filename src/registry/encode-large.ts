import { runCooperatively } from '../lib/scheduling/yield.js';
import type { KubeObject } from '../machinery/object.js';
import { withoutResourceVersion } from '../storage/entry.js';
import type { ResourceRegistry } from './registry.js';

/** Prunes the object for storage. An earlier encoding is reusable only where pruning changed nothing. */
export const reusableEncoding = (
  { kind }: Pick<ResourceRegistry, 'kind'>,
  object: KubeObject,
  encoded: Buffer | undefined,
): Buffer | undefined => (kind.strategy.pruneForStorage?.(object) === true ? undefined : encoded);

/** The stored form of a large object, encoded cooperatively. */
export async function encodeLarge({ store }: ResourceRegistry, object: KubeObject): Promise<Buffer> {
  const { codec } = store.options;
  const encoded = withoutResourceVersion(object);
  return codec.encodePieces === undefined ? codec.encodeJson(encoded) : runCooperatively(codec.encodePieces(encoded));
}

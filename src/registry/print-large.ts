import { inTurns } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { withoutResourceVersion } from '../storage/entry.js';
import type { ResourceRegistry } from './registry.js';

/** Brings the object into the form it is stored in: what was printed of it before counts only where that is the same. */
export const fittedPrint = (
  { kind }: Pick<ResourceRegistry, 'kind'>,
  object: KubeObject,
  printed: Buffer | undefined,
): Buffer | undefined => (kind.strategy.fit?.(object) === true ? undefined : printed);

/** What is stored of a large object, printed in turns with others. */
export async function printLarge({ store }: ResourceRegistry, object: KubeObject): Promise<Buffer> {
  const { codec } = store.options;
  const printed = withoutResourceVersion(object);
  return codec.encodePieces === undefined ? codec.encodeJson(printed) : inTurns(codec.encodePieces(printed));
}

import { inTurns } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { withoutResourceVersion } from '../storage/entry.js';
import type { ResourceRegistry } from './registry.js';

/** What is stored of a large object, printed in turns with others. */
export async function printLarge({ store }: ResourceRegistry, object: KubeObject): Promise<Buffer> {
  const { codec } = store.options;
  const printed = withoutResourceVersion(object);
  return codec.encodePieces === undefined ? codec.encodeJson(printed) : inTurns(codec.encodePieces(printed));
}

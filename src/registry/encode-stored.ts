import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { SizedWork } from '../lib/scheduling/sized-work.js';
import type { KubeObject } from '../machinery/object.js';
import { withoutResourceVersion } from '../storage/entry.js';
import { encodedBy } from '../storage/store.js';
import type { ResourceRegistry } from './registry.js';

/** Prunes the object for storage. An earlier encoding is reusable only where pruning changed nothing. */
export const reusableEncoding = (
  { kind }: Pick<ResourceRegistry, 'kind'>,
  object: KubeObject,
  encoded: Buffer | undefined,
): Buffer | undefined => (kind.strategy.pruneForStorage?.(object) === true ? undefined : encoded);

/** The stored form of an object; that of a large one is encoded cooperatively. The store itself encodes what is passed without. */
export const encodeStored = ({ store }: ResourceRegistry, object: KubeObject, work: SizedWork): MaybePromise<Buffer> =>
  encodedBy(store.options.codec, withoutResourceVersion(object), work);

// What comes back from a conversion webhook.
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import type { KubeObject } from '../../machinery/object.js';

export interface Converted {
  /** What of a long answer is asked for is read cooperatively. Throws StorageError. */
  object(): MaybePromise<KubeObject>;
  /** As it is printed, where it came out of a long answer. */
  readonly json?: Buffer;
}

// The configuration in force, and the transformers that go by it, whichever that is when a value comes.
import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import { type GroupResource, groupResourceText } from '../machinery/status.js';
import { identity } from './identity.js';
import type { Providers } from './providers.js';
import type { Trace } from '../tracing/trace.js';
import type { Decrypted, Place, EncryptedParts, Encrypter, ValueTransformer } from './transformer.js';

/** What the server keeps for itself under names that are no resources. */
const NO_RESOURCES: ReadonlySet<string> = new Set(['masterleases', 'servicenodeportallocations']);

export class EncryptionAtRest {
  readonly #first: Providers;
  #providers: Providers;

  constructor(
    providers: Providers,
    /** The configuration may change: every resource's values go through a transformer. */
    readonly changes: boolean,
  ) {
    this.#first = providers;
    this.#providers = providers;
  }

  get providers(): Providers {
    return this.#providers;
  }

  /** Undefined for a resource that is and stays in clear. */
  transformerOf(resource: GroupResource): ValueTransformer | undefined {
    if (resource.group === '' && NO_RESOURCES.has(resource.resource)) return undefined;
    if (!this.changes && this.#providers.encrypterOf(resource) === undefined) return undefined;
    return new ResourceTransformer(() => this.#providers, this.#first, resource);
  }

  /** Whose providers are closed when their calls under way have had their time. */
  replace(providers: Providers): Providers {
    const before = this.#providers;
    this.#providers = providers;
    return before;
  }
}

class ResourceTransformer implements ValueTransformer {
  readonly #name: string;
  #providers: Providers | undefined;
  #encrypter: Encrypter = identity;

  constructor(
    readonly current: () => Providers,
    readonly first: Providers,
    readonly resource: GroupResource,
  ) {
    this.#name = groupResourceText(resource);
  }

  // hot: every write
  toStorage(plain: Buffer, key: string, trace?: Trace): MaybePromise<Buffer> {
    return whenReady(this.#inForce().encrypt(plain, this.#place(key, trace)), together);
  }

  // hot: every value read
  fromStorage(value: Buffer, key: string, trace?: Trace): MaybePromise<Decrypted> {
    return this.#inForce().decrypt(value, this.#place(key, trace));
  }

  get changed(): boolean {
    return this.current() !== this.first;
  }

  get decryptsEachRead(): boolean {
    return this.#inForce().decryptsEachRead === true;
  }

  #inForce(): Encrypter {
    const providers = this.current();
    if (providers !== this.#providers) {
      this.#providers = providers;
      this.#encrypter = providers.encrypterOf(this.resource) ?? identity;
    }
    return this.#encrypter;
  }

  #place(key: string, trace: Trace | undefined): Place {
    return { key, resource: this.#name, trace };
  }
}

/** What is not encrypted is handed on as it is. */
const together = (parts: EncryptedParts): Buffer => {
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? only : Buffer.concat(parts);
};

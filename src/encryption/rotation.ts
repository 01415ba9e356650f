// Moving to another key, so that it can be seen: what each key encrypted, rewriting what is not under the first one, and
// whether a key may go.
import type { Logger } from '../lib/telemetry/log.js';
import type { KeyValue, KeyValueStore } from '../kv/kv.js';
import { prefixEnd } from '../kv/kv.js';
import type { Clock } from '../lib/async/clock.js';
import { errorText } from '../lib/text/error-text.js';
import { type GroupResource, groupResourceText } from '../machinery/status.js';
import type { EncryptionAtRest } from './encryption-at-rest.js';
import { Inventory, type EncryptedBy } from './inventory.js';
import type { ValueTransformer } from './transformer.js';

/** Where the values of a resource lie. */
export interface EncryptedResource {
  readonly resource: GroupResource;
  readonly prefix: string;
  readonly kv: KeyValueStore;
  readonly transformer: ValueTransformer;
  /** For objects with a lease: a rewritten value gets this time again. */
  readonly ttlSeconds?: number;
}

export interface KeyUse {
  readonly provider: string;
  readonly key?: string;
  readonly writes: boolean;
  readonly known: boolean;
  readonly objects: number;
}

export interface ResourceUse {
  readonly resource: string;
  readonly keys: readonly KeyUse[];
}

export interface RewriteProgress {
  readonly state: 'never' | 'running' | 'done' | 'stopped';
  readonly looked: number;
  readonly rewritten: number;
  /** Objects that could not be rewritten; the first of them are named. */
  readonly failed: number;
  readonly failures: readonly { readonly key: string; readonly message: string }[];
}

export interface RemovalAnswer {
  readonly mayRemove: boolean;
  readonly because: string;
  readonly objects: number;
  /** Some of those that stand in the way. */
  readonly inTheWay: readonly string[];
}

/** Large, for a store counts what is left with every page. */
const PAGE = 5_000;
const MAX_NAMED = 100;
const MAX_RESOURCES = 10_000;

const NEVER: RewriteProgress = { state: 'never', looked: 0, rewritten: 0, failed: 0, failures: [] };

export class Rotation {
  readonly #resources = new Map<string, EncryptedResource>();
  #scan: Promise<ResourceUse[]> | undefined;
  #rewrite: RewriteProgress = NEVER;

  constructor(
    readonly encryption: EncryptionAtRest,
    readonly options: { readonly clock: Clock; readonly signal: AbortSignal; readonly log: Logger },
  ) {}

  add(resource: EncryptedResource): void {
    if (this.#resources.size < MAX_RESOURCES) this.#resources.set(resource.prefix, resource);
  }

  get progress(): RewriteProgress {
    return this.#rewrite;
  }

  /** A call while a scan runs shares its result. */
  use(): Promise<ResourceUse[]> {
    this.#scan ??= this.#countAll().finally(() => (this.#scan = undefined));
    return this.#scan;
  }

  /** Begins unless it is running. What was done before, also before a crash, is under the first key and passed over. */
  begin(objectsPerSecond: number): RewriteProgress {
    if (this.#rewrite.state !== 'running') {
      this.#rewrite = { ...NEVER, state: 'running' };
      void this.#rewriteAll(objectsPerSecond);
    }
    return this.#rewrite;
  }

  async mayRemove(provider: string, key: string | undefined): Promise<RemovalAnswer> {
    const is = (used: EncryptedBy): boolean => used.provider === provider && (key === undefined || used.key === key);
    let objects = 0;
    let writes = key === undefined && this.#writers().has(provider);
    let configured = key !== undefined;
    const inTheWay: string[] = [];
    for (const [resource, inventory] of this.#covered()) {
      configured ||= inventory.providers().some((known) => known.provider === provider);
      for await (const page of pages(resource)) {
        for (const kv of page) {
          const found = inventory.encryptedBy(kv.value, placeOf(resource, kv));
          const used = found instanceof Promise ? await found : found;
          if (!is(used)) continue;
          objects++;
          writes ||= used.writes;
          if (inTheWay.length < MAX_NAMED) inTheWay.push(kv.key);
        }
      }
    }
    const because = writes
      ? 'it is what values are encrypted with now'
      : objects > 0
        ? `${objects} ${objects === 1 ? 'object is' : 'objects are'} encrypted with it`
        : configured
          ? 'no stored object is encrypted with it'
          : 'the configuration does not have it, and no stored object is encrypted with it';
    return { mayRemove: !writes && objects === 0, because, objects, inTheWay };
  }

  #writers(): Set<string> {
    const names = [...this.#covered()].flatMap(([, inventory]) => inventory.providers().filter(({ writes }) => writes));
    return new Set(names.map(({ provider }) => provider));
  }

  *#covered(): Generator<[EncryptedResource, Inventory]> {
    for (const resource of this.#resources.values()) {
      const encrypters = this.encryption.providers.encrypterOf(resource.resource);
      if (encrypters !== undefined) yield [resource, new Inventory(encrypters)];
    }
  }

  async #countAll(): Promise<ResourceUse[]> {
    const uses: ResourceUse[] = [];
    for (const [resource, inventory] of this.#covered()) uses.push(await count(resource, inventory));
    return uses.sort((a, b) => (a.resource < b.resource ? -1 : 1));
  }

  async #rewriteAll(objectsPerSecond: number): Promise<void> {
    const { log } = this.options;
    try {
      for (const [resource, inventory] of this.#covered())
        await this.#rewriteOne(resource, inventory, objectsPerSecond);
      this.#note({ state: 'done' });
    } catch (error) {
      this.#note({ state: 'stopped' }, { key: '', message: errorText(error) });
    }
    const { looked, rewritten, failed, state } = this.#rewrite;
    log.info(`rewriting ${state}: ${rewritten} of ${looked} objects rewritten, ${failed} failed`);
  }

  async #rewriteOne(resource: EncryptedResource, inventory: Inventory, objectsPerSecond: number): Promise<void> {
    for await (const page of pages(resource)) {
      for (const kv of page) await this.#rewriteIfStale(resource, inventory, kv, objectsPerSecond);
    }
  }

  async #rewriteIfStale(
    resource: EncryptedResource,
    inventory: Inventory,
    kv: KeyValue,
    objectsPerSecond: number,
  ): Promise<void> {
    if (this.options.signal.aborted) throw new Error('the server is stopping');
    const { looked } = this.#rewrite;
    this.#note({ looked: looked + 1 });
    const { writes } = await inventory.encryptedBy(kv.value, placeOf(resource, kv));
    if (writes) return;
    try {
      if (await reencrypt(resource, kv)) this.#note({ rewritten: this.#rewrite.rewritten + 1 });
    } catch (error) {
      this.#note({ failed: this.#rewrite.failed + 1 }, { key: kv.key, message: errorText(error) });
    }
    await this.#pause(1000 / objectsPerSecond);
  }

  #note(change: Partial<RewriteProgress>, failure?: RewriteProgress['failures'][number]): void {
    const { failures } = this.#rewrite;
    const named = failure === undefined || failures.length >= MAX_NAMED ? failures : [...failures, failure];
    this.#rewrite = { ...this.#rewrite, ...change, failures: named };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.options.clock.after(ms, resolve));
  }
}

const placeOf = ({ resource }: EncryptedResource, { key }: KeyValue) => ({
  key,
  resource: groupResourceText(resource),
});

async function count(resource: EncryptedResource, inventory: Inventory): Promise<ResourceUse> {
  const uses = new Map<string, { used: EncryptedBy; objects: number }>();
  // Unused keys are listed, too: they are those that may be removed.
  for (const { provider, writes } of inventory.providers()) {
    if (!provider.startsWith('kms:v2:')) uses.set(provider, { used: { provider, writes, known: true }, objects: 0 });
  }
  for await (const page of pages(resource)) {
    for (const kv of page) {
      const found = inventory.encryptedBy(kv.value, placeOf(resource, kv));
      const used = found instanceof Promise ? await found : found;
      const name = used.key === undefined ? used.provider : `${used.provider} ${used.key}`;
      const known = uses.get(name) ?? { used, objects: 0 };
      known.objects++;
      uses.set(name, known);
    }
  }
  const keys = [...uses.values()].map(({ used, objects }): KeyUse => ({ ...used, objects }));
  return { resource: groupResourceText(resource.resource), keys };
}

/** A page at a time, to yield to the event loop and to hold only one page in memory. */
async function* pages({ kv, prefix }: EncryptedResource): AsyncGenerator<readonly KeyValue[]> {
  const end = prefixEnd(prefix);
  let start = prefix;
  for (;;) {
    const page = await kv.range({ start, end, limit: PAGE });
    yield page.kvs;
    const last = page.kvs[page.kvs.length - 1];
    if (last === undefined || page.count <= page.kvs.length) return;
    start = `${last.key}\0`;
  }
}

/** The same content under the key that writes now. False when somebody else wrote it meanwhile. */
async function reencrypt({ kv, transformer, ttlSeconds }: EncryptedResource, stored: KeyValue): Promise<boolean> {
  const { plain } = await transformer.fromStorage(stored.value, stored.key);
  const value = await transformer.toStorage(plain, stored.key);
  const ttl = ttlSeconds === undefined ? {} : { ttlSeconds };
  return (await kv.update(stored.key, stored.modRevision, value, ttl)).done;
}

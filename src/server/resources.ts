// Every kind the server knows, with its registry and an endpoint for each version that is served.
import crypto from 'node:crypto';
import type { ApiEnablement } from '../machinery/api-enablement.js';
import { deepCopy } from '../schema/deep-copy.js';
import { equalMember } from '../schema/deep-equal.js';
import { type GroupResource, groupResourceText } from '../machinery/status.js';
import type { GroupVersionKind, KubeObject } from '../machinery/object.js';
import type { KindDefinition, Lookup, ObjectOperations } from '../registry/kind.js';
import { computedStore } from '../registry/computed-store.js';
import { createLookup, createOperations } from '../registry/operations.js';
import type { ResourceRegistry } from '../registry/registry.js';
import { objectCodec } from '../rest/object-codec.js';
import { createEndpoint, type Endpoint, storageVersionOf } from '../rest/endpoint.js';
import { typeOf } from '../schema/catalogue.js';
import type { StructType } from '../schema/type.js';
import type { ManagedResourceStore, ObjectCodec, ResourceStoreOptions } from '../storage/store.js';

export interface ResourcesOptions {
  /** `/registry`. */
  readonly prefix: string;
  readonly openStore: (options: ResourceStoreOptions) => ManagedResourceStore;
  readonly clock: () => Date;
  readonly garbageCollection: boolean;
  readonly deleteCollectionWorkers: number;
  readonly enablement: ApiEnablement;
}

/** The letters of generated names: none that form words, none that look alike. */
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

export class Resources {
  readonly lookup: Lookup = createLookup((resource) => this.registry(resource));
  readonly operations: ObjectOperations = createOperations((resource) => this.registry(resource), deepCopy);
  private readonly registries = new Map<string, ResourceRegistry>();
  private readonly endpoints = new Map<string, Endpoint>();
  /** The endpoints of each resource name, of every group and version. */
  private readonly named = new Map<string, Endpoint[]>();
  private readonly stores = new Map<string, ManagedResourceStore>();
  private readonly sharing = new Map<string, KindDefinition[]>();

  constructor(private readonly options: ResourcesOptions) {}

  add(definition: KindDefinition): void {
    const registry = this.createRegistry(definition);
    this.registries.set(groupResourceText({ group: definition.group, resource: definition.plural }), registry);
    for (const version of definition.versions) {
      const { enablement } = this.options;
      const byDefault = version.enabledByDefault ?? true;
      if (!enablement.resource(definition.group, version.version, definition.plural, byDefault)) continue;
      const endpoint = createEndpoint(registry, version, {
        type: typeOfKind(definition.group, version.version, definition.kind),
        listType: typeOf(definition.group, version.version, `${definition.kind}List`) ?? NO_LIST,
      });
      this.endpoints.set(endpointKey(definition.group, version.version, definition.plural), endpoint);
      const named = this.named.get(definition.plural);
      if (named === undefined) this.named.set(definition.plural, [endpoint]);
      else named.push(endpoint);
    }
  }

  // hot: twice for each request; a name has one endpoint or a few, and comparing is cheaper than building a key.
  readonly find = (group: string, version: string, resource: string): Endpoint | undefined =>
    this.named.get(resource)?.find(({ kind }) => kind.version === version && kind.group === group);

  registry(resource: GroupResource): ResourceRegistry | undefined {
    return this.registries.get(groupResourceText(resource));
  }

  /** The resource that serves a kind in a version, undefined when none does. */
  readonly resourceOf = ({ group, version, kind }: GroupVersionKind): string | undefined => {
    for (const { kind: served, resource } of this.endpoints.values()) {
      if (served.group === group && served.version === version && served.kind === kind) return resource.resource;
    }
    return undefined;
  };

  /** The type of a served kind, built in or custom. */
  readonly typeOf = ({ group, version, kind }: GroupVersionKind): StructType | undefined => {
    const resource = this.resourceOf({ group, version, kind });
    return resource === undefined ? undefined : this.find(group, version, resource)?.type;
  };

  /** All endpoints, for discovery and documents. */
  all(): Iterable<Endpoint> {
    return this.endpoints.values();
  }

  /** The registries of all resources that are served now, each once. */
  served(): ResourceRegistry[] {
    return [...new Set([...this.endpoints.values()].map(({ registry }) => registry))];
  }

  /** A store of its own, for what is kept but not served. */
  openStore(options: ResourceStoreOptions): ManagedResourceStore {
    return this.options.openStore(options);
  }

  close(): void {
    for (const store of this.stores.values()) store.close();
  }

  private createRegistry(definition: KindDefinition): ResourceRegistry {
    const { options } = this;
    const { group, version } = storageVersionOf(definition);
    return {
      kind: definition,
      // Errors name a shared object by where it is stored.
      resource: { group: definition.storageGroup ?? definition.group, resource: definition.plural },
      groupKind: { group: definition.storageGroup ?? definition.group, kind: definition.kind },
      store: this.storeOf(definition),
      clock: options.clock,
      newUid: () => crypto.randomUUID(),
      nameSuffix,
      equal: (member, a, b) => equalMember(typeOfKind(group, version, definition.kind), member, a, b),
      garbageCollection: options.garbageCollection,
      deleteCollectionWorkers: options.deleteCollectionWorkers,
    };
  }

  /** Kinds that share their objects with another group's share its store, too. */
  private storeOf(definition: KindDefinition): ManagedResourceStore {
    const { group, version } = storageVersionOf(definition);
    const prefix = `${this.options.prefix}/${definition.keyPrefix ?? definition.plural}/`;
    const sharing = this.sharing.get(prefix) ?? [];
    this.sharing.set(prefix, sharing);
    sharing.push(definition);
    const known = this.stores.get(prefix);
    if (known !== undefined) return known;
    const storeOptions: ResourceStoreOptions = {
      resource: { group, resource: definition.plural },
      prefix,
      namespaced: definition.namespaced,
      codec: lazyCodec(() => typeOfKind(group, version, definition.kind)),
      fieldsOf: (object: KubeObject) =>
        sharing.length === 1
          ? (definition.selectableFields?.(object) ?? {})
          : (Object.assign({}, ...sharing.map((kind) => kind.selectableFields?.(object))) as Record<string, string>),
    };
    const computed = definition.computed?.bind(definition);
    const store =
      computed === undefined
        ? this.options.openStore(storeOptions)
        : computedStore(storeOptions, definition.singular, computed);
    this.stores.set(prefix, store);
    return store;
  }
}

const endpointKey = (group: string, version: string, resource: string): string => `${group}/${version}/${resource}`;

/** Random letters that make a generated name unique. */
export function nameSuffix(): string {
  let suffix = '';
  for (let i = 0; i < SUFFIX_LENGTH; i++) suffix += SUFFIX_LETTERS[crypto.randomInt(SUFFIX_LETTERS.length)];
  return suffix;
}

function typeOfKind(group: string, version: string, kind: string): StructType {
  const type = typeOf(group, version, kind);
  if (type === undefined) throw new Error(`the catalogue has no ${kind} in ${group}/${version}`);
  return type;
}

/** Kinds that are never listed have no list type. */
const NO_LIST: StructType = { kind: 'struct', name: '', fields: [], byJson: new Map() };

/** The type of a kind is read from the catalogue only when its first object is. */
function lazyCodec(type: () => StructType): ObjectCodec {
  let codec: ObjectCodec | undefined;
  const get = (): ObjectCodec => (codec ??= objectCodec(type()));
  return {
    encodeJson: (object) => get().encodeJson(object),
    decodeJson: (bytes) => get().decodeJson(bytes),
    encodeStorage: (object) => get().encodeStorage(object),
    decodeStorage: (bytes) => get().decodeStorage(bytes),
  };
}

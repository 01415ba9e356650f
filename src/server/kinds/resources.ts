// Every kind the server knows, with its registry and an endpoint for each version that is served.
import crypto from 'node:crypto';
import type { WorkerPool } from '../../lib/async/worker-pool.js';
import { systemClock } from '../../lib/async/clock.js';
import type { ApiEnablement } from '../../machinery/api-enablement.js';
import type { ServedKind } from '../../crd/controller.js';
import type { CustomKind } from '../../crd/custom-kind.js';
import { equalMember, equalTrees } from '../../schema/deep-equal.js';
import { type GroupResource, groupResourceText } from '../../machinery/status.js';
import { apiVersionOf, type GroupVersionKind, type KubeObject } from '../../machinery/object.js';
import type { KindDefinition, Lookup, ObjectOperations } from '../../registry/kind.js';
import { computedStore } from '../../registry/computed-store.js';
import { createLookup, createOperations, type InternalWriteAdmission } from '../../registry/operations.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import { KeyedQueue } from '../../registry/keyed-queue.js';
import { encodePieces } from '../../schema/json/encode-pieces.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { storedVersions } from './stored-versions.js';
import { createEndpoint, type Endpoint, type EndpointTypes, storageVersionOf } from '../../rest/contract/endpoint.js';
import { typeOf } from '../../schema/catalogue.js';
import type { StructType } from '../../schema/type.js';
import type { ManagedResourceStore, ObjectCodec, ResourceStore, ResourceStoreOptions } from '../../storage/store.js';
import { nameSuffix } from './name-suffix.js';

export interface ResourcesOptions {
  /** `/registry`. */
  readonly prefix: string;
  readonly openStore: (options: ResourceStoreOptions) => ManagedResourceStore;
  readonly clock: () => Date;
  readonly garbageCollection: boolean;
  readonly deleteCollectionWorkers: number;
  /** Objects that cannot be read may be deleted, so errors name them. */
  readonly unsafeDeletion?: boolean;
  readonly enablement: ApiEnablement;
  /** Where the rules of large objects are run; without it, here. */
  readonly workers?: WorkerPool;
  /** For generated names; where several processes create, each has its own. */
  readonly nameSuffix?: () => string;
}

/** What requests that began before a custom kind went have to end. */
const CUSTOM_STORE_GRACE_MS = 1000;

export class Resources {
  readonly lookup: Lookup = createLookup((resource) => this.registry(resource));
  readonly operations: ObjectOperations = this.operationsWith();
  private readonly registries = new Map<string, ResourceRegistry>();
  private readonly endpoints = new Map<string, Endpoint>();
  private listed: readonly Endpoint[] | undefined;
  private changed = (): void => undefined;
  /** The endpoints of each resource name, of every group and version. */
  private readonly named = new Map<string, Endpoint[]>();
  private readonly stores = new Map<string, ManagedResourceStore>();
  private readonly storedUnder = new Map<string, KindDefinition[]>();
  private readonly customStores = new Set<ManagedResourceStore>();
  private readonly shared = new WeakMap<ResourceStore, Pick<ResourceRegistry, 'drawnKeys' | 'updateQueue'>>();
  private readonly servedGroups = new Set<string>();
  private readonly builtInVersions = new Set<string>();

  constructor(private readonly options: ResourcesOptions) {}

  /** Where work on large objects is done. */
  get workers(): WorkerPool | undefined {
    return this.options.workers;
  }

  add(definition: KindDefinition): void {
    const registry = this.createRegistry(definition);
    this.registries.set(groupResourceText({ group: definition.group, resource: definition.plural }), registry);
    for (const version of definition.versions) {
      this.builtInVersions.add(apiVersionOf({ group: definition.group, version: version.version }));
      const { enablement } = this.options;
      const byDefault = version.enabledByDefault ?? true;
      if (!enablement.resource(definition.group, version.version, definition.plural, byDefault)) continue;
      this.servedGroups.add(definition.group);
      this.addEndpoint(createEndpoint(registry, version, lazyTypes(definition, version.version)));
    }
  }

  private addEndpoint(endpoint: Endpoint): void {
    const { group, version, resource } = endpoint.resource;
    this.endpoints.set(endpointKey(group, version, resource), endpoint);
    this.listAnew();
    this.named.set(resource, [...(this.named.get(resource) ?? []), endpoint]);
  }

  private removeEndpoint(endpoint: Endpoint): void {
    const { group, version, resource } = endpoint.resource;
    this.endpoints.delete(endpointKey(group, version, resource));
    this.listAnew();
    const rest = (this.named.get(resource) ?? []).filter((other) => other !== endpoint);
    if (rest.length === 0) this.named.delete(resource);
    else this.named.set(resource, rest);
  }

  private listAnew(): void {
    this.listed = undefined;
    this.changed();
  }

  // hot: twice for each request; a name has one endpoint or a few, and comparing is cheaper than building a key.
  readonly find = (group: string, version: string, resource: string): Endpoint | undefined =>
    this.named.get(resource)?.find(({ kind }) => kind.version === version && kind.group === group);

  registry(resource: GroupResource): ResourceRegistry | undefined {
    return this.registries.get(groupResourceText(resource));
  }

  /** The store of a resource every server has. */
  store(resource: GroupResource): ResourceStore {
    const registry = this.registry(resource);
    if (registry === undefined) throw new Error(`the server has no ${groupResourceText(resource)}`);
    return registry.store;
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

  /** The other endpoints of the same objects: other versions, or those of a kind that shares its store. */
  sharing(endpoint: Endpoint): Endpoint[] {
    const { registry, resource } = endpoint;
    // Kinds that share a store have one plural name, so that not all endpoints are looked at.
    const namesakes = this.named.get(resource.resource) ?? [];
    return namesakes.filter((other) => other !== endpoint && baseOf(other.registry) === baseOf(registry));
  }

  /** All endpoints, for discovery and documents: the same list until kinds come or go, or their verbs do. */
  all(): readonly Endpoint[] {
    return (this.listed ??= [...this.endpoints.values()]);
  }

  /** Called when there is another list: once for each version of kinds that come or go. */
  whenChanged(run: () => void): void {
    this.changed = run;
  }

  /** The registries of all resources that are served now, each once. */
  served(): ResourceRegistry[] {
    // The versions of a custom resource have rules of their own, over one store.
    const byStore = new Map<unknown, ResourceRegistry>();
    for (const { definition, registry } of this.endpoints.values()) {
      const key = definition.custom ? baseOf(registry) : registry;
      if (!byStore.has(key)) byStore.set(key, registry);
    }
    return [...byStore.values()];
  }

  /** Served resources whose objects lie in a store: not those that only answer, or are computed on read. */
  stored(): ResourceRegistry[] {
    return this.served().filter(({ kind }) => kind.virtual === undefined);
  }

  /** The stores of built-in resources that are served. */
  builtInStores(): ManagedResourceStore[] {
    const kept = new Set(this.stored().map(({ store }) => store));
    return [...this.stores.values()].filter((store) => kept.has(store));
  }

  /** A store of its own, for what is kept but not served. */
  openStore(options: ResourceStoreOptions): ManagedResourceStore {
    return this.options.openStore(options);
  }

  /**
   * Serves a kind that is defined at run time, until it is stopped. Its store is closed a little later, when requests
   * under way have had their time: then its watches end. The server's own kinds come first: in their versions nothing
   * else is served, and where their objects lie nothing else may be done.
   */
  serveCustom(custom: CustomKind): ServedKind {
    const { group, plural } = custom;
    const prefix = `${this.options.prefix}/${group}/${plural}/`;
    if (this.stores.has(prefix)) return { objects: 'built-in', changed: () => undefined, stop: () => undefined };
    const store = this.options.openStore({
      ...custom.store,
      prefix,
      root: this.options.prefix,
      typeName: '*unstructured.Unstructured',
      ...this.unsafeDeletion(),
    });
    this.customStores.add(store);
    const equal: ResourceRegistry['equal'] = (_member, a, b) => equalTrees(a, b);
    const registryOf = ({ definition, view }: Pick<CustomKind, 'definition' | 'view'>): ResourceRegistry =>
      this.registryOn(definition, view?.(store) ?? store, equal);
    const registry = registryOf(custom);
    const name = groupResourceText({ group, resource: plural });
    const endpoints = custom.served
      .filter(({ version: { version } }) => !this.builtInVersions.has(apiVersionOf({ group, version })))
      .map((served) => createEndpoint(registryOf(served), served.version, served.types));
    const isNew = !this.registries.has(name);
    if (isNew) this.registries.set(name, registry);
    for (const endpoint of endpoints) this.addEndpoint(endpoint);
    return {
      objects: registry,
      changed: () => this.listAnew(),
      stop: () => {
        if (isNew) this.registries.delete(name);
        for (const endpoint of endpoints) this.removeEndpoint(endpoint);
        setTimeout(() => {
          this.customStores.delete(store);
          store.close();
        }, CUSTOM_STORE_GRACE_MS).unref();
      },
    };
  }

  /** The operations of the server's own writes; with `review`, webhooks and policies review them. */
  operationsWith(review?: InternalWriteAdmission): ObjectOperations {
    return createOperations((resource) => this.registry(resource), review);
  }

  /** Whether kinds of the group that are the server's own are served, in any version. */
  readonly isBuiltIn = (group: string): boolean => this.servedGroups.has(group);

  close(): void {
    for (const store of [...this.stores.values(), ...this.customStores]) store.close();
  }

  private createRegistry(definition: KindDefinition): ResourceRegistry {
    const { group, version } = storageVersionOf(definition);
    return this.registryOn(definition, this.storeOf(definition), (member, a, b) =>
      equalMember(typeOfKind(group, version, definition.kind), member, a, b),
    );
  }

  private registryOn(
    definition: KindDefinition,
    store: ResourceStore,
    equal: ResourceRegistry['equal'],
  ): ResourceRegistry {
    const { options } = this;
    const base = store.view?.base ?? store;
    const shared = this.shared.get(base) ?? { drawnKeys: new Set(), updateQueue: new KeyedQueue(systemClock) };
    this.shared.set(base, shared);
    return {
      kind: definition,
      resource: { group: definition.group, resource: definition.plural },
      // A shared object is invalid as what it is stored as.
      groupKind: { group: definition.storage?.group ?? definition.group, kind: definition.kind },
      store,
      clock: options.clock,
      newUid: () => crypto.randomUUID(),
      nameSuffix: options.nameSuffix ?? nameSuffix,
      ...shared,
      equal,
      garbageCollection: options.garbageCollection,
      deleteCollectionWorkers: options.deleteCollectionWorkers,
      workers: options.workers,
    };
  }

  private unsafeDeletion(): Pick<ResourceStoreOptions, 'unsafeDeletion'> {
    return this.options.unsafeDeletion === true ? { unsafeDeletion: { root: this.options.prefix } } : {};
  }

  /** Kinds that share their objects with another group's share its store, too. */
  private storeOf(definition: KindDefinition): ManagedResourceStore {
    const { group, version } = storageVersionOf(definition);
    const prefix = `${this.options.prefix}/${definition.storage?.keyPrefix ?? definition.plural}/`;
    const sharing = this.storedUnder.get(prefix) ?? [];
    this.storedUnder.set(prefix, sharing);
    sharing.push(definition);
    const known = this.stores.get(prefix);
    if (known !== undefined) return known;
    const { selection } = definition;
    const storeOptions: ResourceStoreOptions = {
      resource: { group, resource: definition.plural },
      prefix,
      root: this.options.prefix,
      namespaced: definition.namespaced,
      typeName: `*${packageOf(group)}.${definition.kind}`,
      ...this.unsafeDeletion(),
      codec: lazyCodec(definition, () => typeOfKind(group, version, definition.kind)),
      ...(selection?.indexedField !== undefined && { indexedField: selection.indexedField }),
      ...(selection?.textFields !== undefined && { textFields: selection.textFields }),
      fieldsOf: (object: KubeObject) =>
        sharing.length === 1
          ? (selection?.fields(object) ?? {})
          : (Object.assign({}, ...sharing.map((kind) => kind.selection?.fields(object))) as Record<string, string>),
    };
    const computed = definition.virtual?.objects?.bind(definition.virtual);
    const store =
      computed === undefined
        ? this.options.openStore(storeOptions)
        : computedStore(storeOptions, definition.singular, computed);
    this.stores.set(prefix, store);
    return store;
  }
}

/** The word that messages have for a group's types: `core`, `apps`, `rbac`. */
const packageOf = (group: string): string => (group === '' ? 'core' : (group.split('.', 1)[0] ?? group));
/** Where the objects lie, whatever versions of them are served. */
const baseOf = ({ store }: ResourceRegistry): ResourceStore => store.view?.base ?? store;

const endpointKey = (group: string, version: string, resource: string): string => `${group}/${version}/${resource}`;

function typeOfKind(group: string, version: string, kind: string): StructType {
  const type = typeOf(group, version, kind);
  if (type === undefined) throw new Error(`the catalogue has no ${kind} in ${group}/${version}`);
  return type;
}

/** Kinds that are never listed have no list type. */
const NO_LIST: StructType = { kind: 'struct', name: '', fields: [], byJson: new Map() };

/** The types of a kind are read from the catalogue only when they are wanted. */
function lazyTypes({ group, kind }: KindDefinition, version: string): EndpointTypes {
  let type: StructType | undefined;
  let listType: StructType | undefined;
  return {
    get type() {
      return (type ??= typeOfKind(group, version, kind));
    },
    get listType() {
      return (listType ??= typeOf(group, version, `${kind}List`) ?? NO_LIST);
    },
  };
}

/** The type of a kind is read from the catalogue only when its first object is. */
function lazyCodec(definition: KindDefinition, type: () => StructType): ObjectCodec {
  let codec: ObjectCodec | undefined;
  const stored = definition.versions.find(({ version }) => version === storageVersionOf(definition).version);
  const get = (): ObjectCodec =>
    (codec ??= objectCodec(
      type(),
      definition.storage?.shape,
      stored?.defaults?.bind(stored),
      storedVersions(definition),
    ));
  /** Nothing at all reads as an object with nothing in it, as it does for kube-apiserver. */
  const nothing = (): KubeObject => {
    const apiVersion = apiVersionOf(storageVersionOf(definition));
    return get().decodeJson(Buffer.from(JSON.stringify({ kind: definition.kind, apiVersion, metadata: {} })));
  };
  return {
    encodeJson: (object) => get().encodeJson(object),
    encodePieces: (object) => encodePieces(type(), object),
    decodeJson: (bytes) => get().decodeJson(bytes),
    isStoredAsOther: (object) => get().isStoredAsOther?.(object) === true,
    *decodePieces(bytes) {
      return yield* get().decodePieces?.(bytes) ?? [];
    },
    encodeStorage: (object, mediaType) => get().encodeStorage(object, mediaType),
    decodeStorage: (bytes) => (bytes.length === 0 ? nothing() : get().decodeStorage(bytes)),
    renewOlder: (json) => get().renewOlder?.(json) ?? json,
  };
}

// One served version of one resource: what the verbs work on.
import type { GroupVersion, GroupVersionKind, GroupVersionResource, KubeObject } from '../../machinery/object.js';
import { apiVersionOf } from '../../machinery/object.js';
import type { StructType } from '../../schema/type.js';
import { deepCopy } from '../../schema/deep-copy.js';
import type { KindDefinition, KindVersion } from '../../registry/kind.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import type { StoredObject } from '../../storage/store.js';

export interface Endpoint {
  readonly registry: ResourceRegistry;
  readonly definition: KindDefinition;
  readonly version: KindVersion;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly type: StructType;
  readonly listType: StructType;
  /** `{"kind":"Pod","apiVersion":"v1",`: how every object of this version begins. Empty for a custom resource. */
  readonly head: Buffer;
  /** What an item of a list begins with: it has no kind and apiVersion, unless it is a custom resource. */
  readonly itemHead: Buffer;
  /** The bytes before the members that all versions share, in the storage version. */
  readonly storageHeadLength: number;
  /** True when this version's objects differ from the stored ones in their head only. */
  readonly storedShape: boolean;
}

export type EndpointTypes = Pick<Endpoint, 'type' | 'listType'>;

export const createEndpoint = (registry: ResourceRegistry, version: KindVersion, types: EndpointTypes): Endpoint =>
  new ServedVersion(registry, version, types);

/** A class, since every request reads it: a literal that has getters is a dictionary to V8. */
class ServedVersion implements Endpoint {
  readonly definition: KindDefinition;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly head: Buffer;
  readonly itemHead: Buffer;
  readonly storageHeadLength: number;
  readonly storedShape: boolean;

  constructor(
    readonly registry: ResourceRegistry,
    readonly version: KindVersion,
    private readonly types: EndpointTypes,
  ) {
    const definition = registry.kind;
    const { group, custom } = definition;
    const stored = { kind: definition.kind, ...storageVersionOf(definition) };
    this.definition = definition;
    this.kind = { group, version: version.version, kind: definition.kind };
    this.resource = { group, version: version.version, resource: definition.plural };
    this.head = custom ? NO_HEAD : Buffer.from(headOf(this.kind));
    this.itemHead = custom ? NO_HEAD : Buffer.from('{');
    this.storageHeadLength = custom ? 0 : headOf(stored).length;
    this.storedShape = version.fromStorage === undefined && (!custom || version.version === definition.storageVersion);
  }

  // Read on first use: a start reads the types of no kind that nobody uses.
  get type(): StructType {
    return this.types.type;
  }

  get listType(): StructType {
    return this.types.listType;
  }
}

/** A custom resource encodes its members sorted by name: any may come before its kind, so its bytes are not split. */
const NO_HEAD = Buffer.alloc(0);

/** The group version objects are kept in. */
export const storageVersionOf = (definition: KindDefinition): GroupVersion => ({
  group: definition.storage?.group ?? definition.group,
  version: definition.storageVersion,
});

const headOf = (kind: GroupVersionKind): string =>
  `{"kind":${JSON.stringify(kind.kind)},"apiVersion":${JSON.stringify(apiVersionOf(kind))},`;

/** A stored object in the endpoint's version. Shared and read only where the shapes are the same. */
export function inVersion(endpoint: Endpoint, stored: Readonly<KubeObject>): KubeObject {
  const apiVersion = apiVersionOf(endpoint.kind);
  if (endpoint.version.fromStorage !== undefined) {
    return Object.assign(endpoint.version.fromStorage(deepCopy(stored)), { apiVersion });
  }
  return stored.apiVersion === apiVersion ? stored : { ...stored, apiVersion };
}

/** An object of the endpoint's version as it is stored. Owns its argument. */
export function toStorage(endpoint: Endpoint, object: KubeObject): KubeObject {
  const { definition, version } = endpoint;
  const converted = version.toStorage === undefined ? object : version.toStorage(object);
  converted.apiVersion = apiVersionOf(storageVersionOf(definition));
  converted.kind = definition.kind;
  return converted;
}

// hot: a GET, a list item and a watch event are these bytes.
/** The members after kind and apiVersion, closing brace included, when the shape is the stored one. */
export const tailOf = (endpoint: Endpoint, stored: StoredObject): Buffer =>
  stored.json.subarray(endpoint.storageHeadLength);

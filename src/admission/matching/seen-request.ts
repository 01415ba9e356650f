// A write as policies see it.
import type { GroupVersionKind, GroupVersionResource, JsonObject, KubeObject } from '../../machinery/object.js';
import type { Mutation } from '../../cel/compiled-policy.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';
import { StatusError } from '../../machinery/status.js';
import type { StructType } from '../../schema/type.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from './resource-match.js';

/** What policies must know of the resources the server has. */
export interface ServedResources {
  /** Other names the same objects are served under: other versions, or another group. */
  equivalentsOf(resource: GroupVersionResource): readonly ResourceMatch[];
  /** A stored object in the version of a resource, read only. One of another kind than the resource's stays as it is. */
  inVersion(resource: GroupVersionResource, stored: Readonly<KubeObject>): Readonly<KubeObject>;
  /**
   * The object in the version of a resource, where a webhook must convert it; undefined where `inVersion` can.
   * Rejects with a StatusError.
   */
  convert(resource: GroupVersionResource, object: Readonly<KubeObject>): Promise<KubeObject> | undefined;
  /** Encodes an object as that resource, or `kind` of one of its subresources; a large one cooperatively. */
  encode(
    resource: GroupVersionResource,
    kind: GroupVersionKind,
    object: Readonly<object>,
  ): MaybePromise<string | Buffer>;
  /**
   * What somebody made of an object of a resource, as it is stored: in normal form and with its defaults. `tree` is
   * parsed JSON, whose ownership passes to the callee; `kind` is what the object was seen as. Throws DecodeError or StatusError. Strict, also for
   * fields a built-in type does not know.
   */
  toStored(resource: GroupVersionResource, kind: GroupVersionKind, tree: JsonObject, strict?: boolean): KubeObject;
  /** What a JSON patch makes of an object of a kind, as `inline` has it: of what is large, computed on a worker thread. */
  patch?(
    matched: ResourceMatch,
    object: Readonly<object>,
    patch: Buffer,
    inline: () => PatchMade,
  ): MaybePromise<PatchMade>;
  /** What a policy's mutation makes of it, as `inline` has it: undefined where nothing changes. */
  mutate?(
    matched: ResourceMatch,
    object: Readonly<object>,
    mutation: Mutation,
    inline: () => KubeObject | undefined,
  ): MaybePromise<KubeObject | undefined>;
  /** The type of a kind that is a resource of its own; those that are only a subresource's have none. */
  typeOf(kind: GroupVersionKind): StructType | undefined;
}

export interface PatchMade {
  readonly object: KubeObject;
  /** Whether anything is different. */
  readonly changed: boolean;
}

/** The kind of the request and its objects: of a scale, for one, where the attributes have what is scaled. */
export class SeenRequest {
  readonly kind: GroupVersionKind;
  private readonly known = new Map<KubeObject, Readonly<KubeObject>>();
  private others: readonly ResourceMatch[] | undefined;
  /** What others had to convert, or why they could not, by the version that was matched. */
  private converted: Map<string, Map<object, Readonly<KubeObject> | StatusError>> | undefined;

  constructor(
    readonly attributes: AdmissionAttributes,
    private readonly served: ServedResources,
  ) {
    this.kind = attributes.view?.kind ?? attributes.kind;
  }

  get object(): Readonly<KubeObject> | undefined {
    return this.view(this.attributes.object);
  }

  get old(): Readonly<KubeObject> | undefined {
    return this.view(this.attributes.old);
  }

  get equivalents(): readonly ResourceMatch[] {
    return (this.others ??= this.findEquivalents());
  }

  private findEquivalents(): readonly ResourceMatch[] {
    const others = this.served.equivalentsOf(this.attributes.resource);
    // A subresource of a kind of its own is of that kind under every name.
    return others.map((other) => (other.kind.kind === this.kind.kind ? other : { ...other, kind: this.kind }));
  }

  /** Has the objects converted by others where that is needed, so that `inVersion` need not wait. */
  prepare({ resource }: ResourceMatch): MaybePromise<void> {
    if (resource === this.attributes.resource) return undefined;
    const { version } = resource;
    const pending = [this.object, this.old].flatMap((object) => {
      if (object === undefined || this.converted?.get(version)?.has(object)) return [];
      const converting = this.served.convert(resource, object);
      return converting === undefined ? [] : [this.keepConverted(version, object, converting)];
    });
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined);
  }

  private async keepConverted(version: string, object: object, converting: Promise<KubeObject>): Promise<void> {
    const result = await converting.catch((error: unknown) => {
      if (error instanceof StatusError) return error;
      throw error;
    });
    const all = (this.converted ??= new Map());
    const inVersion = all.get(version) ?? new Map<object, Readonly<KubeObject> | StatusError>();
    all.set(version, inVersion.set(object, result));
  }

  /** Why an object could not be converted into the version that was matched, for which it was prepared. */
  unconverted({ resource }: ResourceMatch): StatusError | undefined {
    for (const result of this.converted?.get(resource.version)?.values() ?? []) {
      if (result instanceof StatusError) return result;
    }
    return undefined;
  }

  /** The object in the version that was matched, for which it was prepared. Throws StatusError. */
  inVersion(object: Readonly<KubeObject> | undefined, { resource }: ResourceMatch): Readonly<KubeObject> | null {
    if (object === undefined) return null;
    const converted = this.converted?.get(resource.version)?.get(object);
    if (converted instanceof StatusError) throw converted;
    return converted ?? this.served.inVersion(resource, object);
  }

  /** What was made of the object in a version that was matched, in the one of the attributes. */
  back(made: KubeObject): MaybePromise<KubeObject> {
    return this.served.convert(this.attributes.resource, made) ?? made;
  }

  /** The object as JSON in the version that was matched; `null` when there is none. */
  encode(object: Readonly<KubeObject> | undefined, matched: ResourceMatch): MaybePromise<string | Buffer> {
    const seen = this.inVersion(object, matched);
    return seen === null ? 'null' : this.served.encode(matched.resource, matched.kind, seen);
  }

  /** The options of a CONNECT as JSON. */
  encodeConnect({ resource, kind }: ResourceMatch): MaybePromise<string | Buffer> | undefined {
    const { connectOptions } = this.attributes;
    return connectOptions && this.served.encode(resource, kind, connectOptions);
  }

  private view(object: Readonly<KubeObject> | undefined): Readonly<KubeObject> | undefined {
    const { view } = this.attributes;
    if (object === undefined || view === undefined) return object;
    const known = this.known.get(object) ?? view.of(object);
    this.known.set(object, known);
    return known;
  }
}

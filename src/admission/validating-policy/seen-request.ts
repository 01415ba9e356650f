// A write as policies see it.
import type { GroupVersionKind, GroupVersionResource, JsonObject, KubeObject } from '../../machinery/object.js';
import type { StructType } from '../../schema/type.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from './match.js';

/** What policies must know of the resources the server has. */
export interface ServedResources {
  /** Other names the same objects are served under: other versions, or another group. */
  equivalentsOf(resource: GroupVersionResource): readonly ResourceMatch[];
  /** A stored object in the version of a resource, read only. One of another kind than the resource's stays as it is. */
  inVersion(resource: GroupVersionResource, stored: Readonly<KubeObject>): Readonly<KubeObject>;
  /** An object as that resource, or `kind` of one of its subresources, prints it. */
  text(resource: GroupVersionResource, kind: GroupVersionKind, object: Readonly<object>): string;
  /**
   * What somebody made of an object of a resource, as it is stored: in normal form and with its defaults. `tree` is
   * parsed JSON, taken over; `kind` is what the object was seen as. Throws DecodeError or StatusError. Strict, also for
   * fields a built-in type does not know.
   */
  toStored(resource: GroupVersionResource, kind: GroupVersionKind, tree: JsonObject, strict?: boolean): KubeObject;
  /** The type of a kind that is a resource of its own; those that are only a subresource's have none. */
  typeOf(kind: GroupVersionKind): StructType | undefined;
}

/** The kind of the request and its objects: of a scale, for one, where the attributes have what is scaled. */
export class SeenRequest {
  readonly kind: GroupVersionKind;
  private readonly known = new Map<KubeObject, Readonly<KubeObject>>();
  private others: readonly ResourceMatch[] | undefined;

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

  /** The object in the version that was matched. */
  inVersion(object: Readonly<KubeObject> | undefined, { resource }: ResourceMatch): Readonly<KubeObject> | null {
    return object === undefined ? null : this.served.inVersion(resource, object);
  }

  /** The object as JSON in the version that was matched; `null` when there is none. */
  text(object: Readonly<KubeObject> | undefined, matched: ResourceMatch): string {
    const seen = this.inVersion(object, matched);
    return seen === null ? 'null' : this.served.text(matched.resource, matched.kind, seen);
  }

  /** What a CONNECT asks for as JSON. */
  connectText({ resource, kind }: ResourceMatch): string | undefined {
    const { connectOptions } = this.attributes;
    return connectOptions && this.served.text(resource, kind, connectOptions);
  }

  private view(object: Readonly<KubeObject> | undefined): Readonly<KubeObject> | undefined {
    const { view } = this.attributes;
    if (object === undefined || view === undefined) return object;
    const known = this.known.get(object) ?? view.of(object);
    this.known.set(object, known);
    return known;
  }
}

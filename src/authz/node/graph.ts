// What each node needs to see, because of what stands in the API about it.
//
//   node n1 ◀─ pod default/web ◀─ secret default/key, config map, service account, resource claim
//                              ◀─ claim default/data ◀─ volume pv-7 ◀─ secret storage/login
//   node n1 ◀─ volume attachment, resource slice, pod certificate request
//
// A decision follows the arrows from an object to a node. It costs one lookup in a map, because pods are added up at
// their node: `n1.objects` has `secret default/key` as often as pods of n1 refer to it. Only the secrets of volumes go
// through two maps, and there the smaller one is walked.
//
// Memory grows with the pods that are bound, their references and the volumes, and shrinks with them: an object is
// known here only as long as something refers to it.

/** Objects that pods refer to. */
export type ReferencedKind = 'secret' | 'configmap' | 'pvc' | 'serviceaccount' | 'resourceclaim';
/** Objects that name their node themselves. */
export type AttachedKind = 'volumeattachment' | 'resourceslice' | 'podcertificaterequest';
export type GraphKind = ReferencedKind | AttachedKind | 'pod' | 'pv';

/** A kind, a namespace and a name as one text. */
export type ObjectKey = string & { readonly objectKey: unique symbol };

export const objectKey = (kind: GraphKind, namespace: string, name: string): ObjectKey =>
  `${kind} ${namespace}/${name}` as ObjectKey;

interface Pod {
  readonly node: string;
  readonly references: readonly ObjectKey[];
}

interface Volume {
  readonly claim: ObjectKey;
  readonly secrets: readonly ObjectKey[];
}

/** How often each object is referred to. */
type Counts = Map<ObjectKey, number>;

interface Node {
  readonly objects: Counts;
  /** Apart from the others, to be walked for the secrets of volumes. */
  readonly claims: Counts;
}

export class NodeGraph {
  private readonly nodes = new Map<string, Node>();
  private readonly pods = new Map<ObjectKey, Pod>();
  private readonly volumes = new Map<string, Volume>();
  /** Claims whose volumes need a secret. */
  private readonly claimsOfSecret = new Map<ObjectKey, Counts>();
  private readonly attached = new Map<ObjectKey, string>();

  setPod(namespace: string, name: string, node: string, references: ReadonlySet<ObjectKey>): void {
    this.removePod(namespace, name);
    const key = objectKey('pod', namespace, name);
    this.pods.set(key, { node, references: [...references] });
    let known = this.nodes.get(node);
    if (known === undefined) this.nodes.set(node, (known = { objects: new Map(), claims: new Map() }));
    for (const reference of references) add(countsFor(known, reference), reference);
  }

  removePod(namespace: string, name: string): void {
    const key = objectKey('pod', namespace, name);
    const pod = this.pods.get(key);
    if (pod === undefined) return;
    this.pods.delete(key);
    const node = this.nodes.get(pod.node);
    if (node === undefined) return;
    for (const reference of pod.references) subtract(countsFor(node, reference), reference);
    if (node.objects.size === 0 && node.claims.size === 0) this.nodes.delete(pod.node);
  }

  /** `secrets` are those a node needs to mount the volume. */
  setVolume(name: string, claim: ObjectKey, secrets: ReadonlySet<ObjectKey>): void {
    this.removeVolume(name);
    this.volumes.set(name, { claim, secrets: [...secrets] });
    for (const secret of secrets) {
      let claims = this.claimsOfSecret.get(secret);
      if (claims === undefined) this.claimsOfSecret.set(secret, (claims = new Map()));
      add(claims, claim);
    }
  }

  removeVolume(name: string): void {
    const volume = this.volumes.get(name);
    if (volume === undefined) return;
    this.volumes.delete(name);
    for (const secret of volume.secrets) {
      const claims = this.claimsOfSecret.get(secret);
      if (claims === undefined) continue;
      subtract(claims, volume.claim);
      if (claims.size === 0) this.claimsOfSecret.delete(secret);
    }
  }

  attach(kind: AttachedKind, namespace: string, name: string, node: string): void {
    if (node === '') this.detach(kind, namespace, name);
    else this.attached.set(objectKey(kind, namespace, name), node);
  }

  detach(kind: AttachedKind, namespace: string, name: string): void {
    this.attached.delete(objectKey(kind, namespace, name));
  }

  // hot: for every read of a kubelet.
  leadsTo(nodeName: string, kind: GraphKind, namespace: string, name: string): boolean {
    const key = objectKey(kind, namespace, name);
    const node = this.nodes.get(nodeName);
    switch (kind) {
      case 'pod':
        return this.pods.get(key)?.node === nodeName;
      case 'volumeattachment':
      case 'resourceslice':
      case 'podcertificaterequest':
        return this.attached.get(key) === nodeName;
      case 'pv': {
        // A volume is of the whole cluster, so none is known under a namespace.
        const claim = namespace === '' ? this.volumes.get(name)?.claim : undefined;
        return claim !== undefined && node !== undefined && node.claims.has(claim);
      }
      case 'pvc':
        return node !== undefined && node.claims.has(key);
      case 'secret':
        return node !== undefined && (node.objects.has(key) || this.isOfVolume(node, key));
      default:
        return node !== undefined && node.objects.has(key);
    }
  }

  private isOfVolume({ claims }: Node, secret: ObjectKey): boolean {
    const mounting = this.claimsOfSecret.get(secret);
    if (mounting === undefined) return false;
    const [fewer, more] = mounting.size < claims.size ? [mounting, claims] : [claims, mounting];
    for (const claim of fewer.keys()) if (more.has(claim)) return true;
    return false;
  }
}

const countsFor = (node: Node, key: ObjectKey): Counts => (key.startsWith('pvc ') ? node.claims : node.objects);

const add = (counts: Counts, key: ObjectKey): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1);
};

function subtract(counts: Counts, key: ObjectKey): void {
  const count = counts.get(key) ?? 0;
  if (count > 1) counts.set(key, count - 1);
  else counts.delete(key);
}

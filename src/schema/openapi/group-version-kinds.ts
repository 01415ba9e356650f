// Which kinds a type is, as `x-kubernetes-group-version-kind` shows clients.
import { type GroupVersionKind, parseApiVersion } from '../../machinery/object.js';
import { catalogueKinds, metaType, typeOf } from '../catalogue.js';

/** The kinds of a type by its OpenAPI name, sorted; undefined when it is none. */
export function kindsOfType(name: string): readonly GroupVersionKind[] | undefined {
  known ??= collect();
  return known.get(name);
}

/** The kinds as kube-apiserver's client library knows them: what it says of custom resources goes by that. */
export function kindsClientsKnow(name: string): readonly GroupVersionKind[] | undefined {
  const kinds = kindsOfType(name);
  if (kinds === undefined || !kinds.some(({ group }) => SERVERS_OWN.has(group))) return kinds;
  return kinds.filter(({ group }) => !SERVERS_OWN.has(group));
}

/** Groups with a library of their own. */
const SERVERS_OWN = new Set([
  'admission.k8s.io',
  'apiextensions.k8s.io',
  'apiregistration.k8s.io',
  'imagepolicy.k8s.io',
]);

let known: Map<string, GroupVersionKind[]> | undefined;

function collect(): Map<string, GroupVersionKind[]> {
  const kinds = new Map<string, GroupVersionKind[]>();
  const add = (name: string, kind: GroupVersionKind): void => {
    kinds.set(name, [...(kinds.get(name) ?? []), kind]);
  };
  for (const [apiVersion, names] of catalogueKinds()) {
    const { group, version } = parseApiVersion(apiVersion);
    for (const kind of names) {
      const type = typeOf(group, version, kind);
      if (type !== undefined && !type.name.startsWith(META_PREFIX)) add(type.name, { group, version, kind });
    }
  }
  for (const kind of KINDS_OF_THE_CORE) add(metaType(kind).name, { group: '', version: 'v1', kind });
  for (const kind of ['DeleteOptions', 'WatchEvent']) {
    for (const [group, versions] of Object.entries(VERSIONS_OF_OPTIONS)) {
      for (const version of versions.split(' ')) add(metaType(kind).name, { group, version, kind });
    }
  }
  for (const list of kinds.values()) list.sort(byGroupThenVersion);
  return kinds;
}

const byGroupThenVersion = (a: GroupVersionKind, b: GroupVersionKind): number =>
  a.group === b.group ? (a.version < b.version ? -1 : 1) : a.group < b.group ? -1 : 1;

const META_PREFIX = 'io.k8s.apimachinery.';
const KINDS_OF_THE_CORE = ['APIGroup', 'APIGroupList', 'APIResourceList', 'APIVersions', 'Status'];

/**
 * Where clients may say DeleteOptions or receive a WatchEvent: every version that ever was, since an old client still
 * names the options after the version it was built for.
 */
const VERSIONS_OF_OPTIONS: Readonly<Record<string, string>> = {
  '': 'v1',
  'admission.k8s.io': 'v1 v1beta1',
  'admissionregistration.k8s.io': 'v1 v1alpha1 v1beta1',
  'apiextensions.k8s.io': 'v1 v1beta1',
  'apiregistration.k8s.io': 'v1 v1beta1',
  apps: 'v1 v1beta1 v1beta2',
  'authentication.k8s.io': 'v1 v1alpha1 v1beta1',
  'authorization.k8s.io': 'v1 v1beta1',
  autoscaling: 'v1 v2 v2beta1 v2beta2',
  batch: 'v1 v1beta1',
  'certificates.k8s.io': 'v1 v1alpha1 v1beta1',
  'coordination.k8s.io': 'v1 v1alpha2 v1beta1',
  'discovery.k8s.io': 'v1 v1beta1',
  'events.k8s.io': 'v1 v1beta1',
  extensions: 'v1beta1',
  'flowcontrol.apiserver.k8s.io': 'v1 v1beta1 v1beta2 v1beta3',
  'imagepolicy.k8s.io': 'v1alpha1',
  'internal.apiserver.k8s.io': 'v1alpha1',
  'networking.k8s.io': 'v1 v1beta1',
  'node.k8s.io': 'v1 v1alpha1 v1beta1',
  policy: 'v1 v1beta1',
  'rbac.authorization.k8s.io': 'v1 v1alpha1 v1beta1',
  'resource.k8s.io': 'v1 v1alpha3 v1beta1 v1beta2',
  'scheduling.k8s.io': 'v1 v1alpha1 v1beta1',
  'storage.k8s.io': 'v1 v1alpha1 v1beta1',
  'storagemigration.k8s.io': 'v1alpha1',
};

// The shape every stored API object has.
//
// An object in the server is the plain JavaScript value of its JSON in *normal form*: exactly what decoding its own
// encoding would give. Members that are always encoded (no omit rule) are present, null where the list, map or time is not
// set; members that are omitted when empty are absent when empty; quantities and times are canonical strings;
// 64-bit integers beyond ±2^53 are bigint, all other numbers are number; bytes are base64 strings.

export interface ManagedFieldsEntry {
  manager?: string;
  operation?: string;
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: Record<string, unknown>;
  subresource?: string;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** A type alias and no interface, so that an object is also a bag of members (JsonObject) without a cast. */
export type KubeObject = {
  kind?: string;
  apiVersion?: string;
  metadata: ObjectMeta;
};

/** The same object seen as a bag of members, for code that walks a schema. */
export type JsonObject = { [member: string]: unknown };

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** `apps/v1`, or `v1` in the core group. */
export const apiVersionOf = ({ group, version }: GroupVersion): string =>
  group === '' ? version : `${group}/${version}`;

/** What kube-apiserver says of a version with more than one slash. */
export function apiVersionFault(apiVersion: string): string | undefined {
  const slash = apiVersion.indexOf('/');
  const isFine = slash < 0 || !apiVersion.includes('/', slash + 1);
  return isFine ? undefined : `unexpected GroupVersion string: ${apiVersion}`;
}

export function parseApiVersion(apiVersion: string): GroupVersion {
  const slash = apiVersion.indexOf('/');
  if (slash < 0) return { group: '', version: apiVersion };
  return { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) };
}

/**
 * The version that is meant where `wanted` is expected: that one, where it is left out. Left out of another group it is
 * empty.
 */
export function meantVersion(apiVersion: string, wanted: GroupVersion): GroupVersion {
  const said = parseApiVersion(apiVersion);
  return said.version === '' && (said.group === '' || said.group === wanted.group) ? wanted : said;
}

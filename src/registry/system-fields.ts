// The metadata only the server decides.
import { badRequest } from '../machinery/status.js';
import { apiVersionOf, type KubeObject, type ObjectMeta } from '../machinery/object.js';
import { type ResourceRegistry, timestamp } from './registry.js';

const MAX_GENERATED_NAME_LENGTH = 63;
const SUFFIX_LENGTH = 5;

const SET_ON_CREATION = [
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'uid',
  'selfLink',
] as const satisfies readonly (keyof ObjectMeta)[];

/** Forgets what a client sent for fields that the server sets on creation. */
// hot: deleting what is not there costs as much as deleting what is, so it is looked for first.
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const name of SET_ON_CREATION) if (metadata[name] !== undefined) delete metadata[name];
}

export function fillSystemFields(registry: ResourceRegistry, object: KubeObject): void {
  const { metadata } = object;
  const { kind } = registry;
  object.kind = kind.kind;
  object.apiVersion = apiVersionOf({ group: kind.storage?.group ?? kind.group, version: kind.storageVersion });
  metadata.creationTimestamp = timestamp(registry.clock());
  metadata.uid = registry.newUid();
}

export function generateName(base: string, suffix: string): string {
  return base.slice(0, MAX_GENERATED_NAME_LENGTH - SUFFIX_LENGTH) + suffix;
}

/** Puts the request's namespace on the object, or refuses one that says otherwise. */
export function matchNamespace(object: KubeObject, namespaced: boolean, requestNamespace: string): void {
  const expected = namespaced ? requestNamespace : '';
  const { metadata } = object;
  if (expected === '') delete metadata.namespace;
  else if (metadata.namespace === undefined || metadata.namespace === '') metadata.namespace = expected;
  else if (metadata.namespace !== expected) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

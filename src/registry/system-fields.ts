// The metadata only the server decides.
import { badRequest } from '../machinery/status.js';
import { apiVersionOf, type KubeObject } from '../machinery/object.js';
import { type ResourceRegistry, timestamp } from './registry.js';

const LONGEST_GENERATED_NAME = 63;
const SUFFIX_LENGTH = 5;

/** Forgets what a client sent for fields that the server sets on creation. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  delete metadata.creationTimestamp;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.uid;
  delete metadata.selfLink;
}

export function fillSystemFields(registry: ResourceRegistry, object: KubeObject): void {
  const { metadata } = object;
  const { kind } = registry;
  object.kind = kind.kind;
  object.apiVersion = apiVersionOf({ group: kind.storageGroup ?? kind.group, version: kind.storageVersion });
  metadata.creationTimestamp = timestamp(registry.clock());
  metadata.uid = registry.newUid();
}

export function generateName(base: string, suffix: string): string {
  return base.slice(0, LONGEST_GENERATED_NAME - SUFFIX_LENGTH) + suffix;
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

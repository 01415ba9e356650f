// What others than the client made of an object on its way in: a webhook's patch, say.
import {
  apiVersionFault,
  apiVersionOf,
  type GroupVersionKind,
  type JsonObject,
  type KubeObject,
  meantVersion,
  parseApiVersion,
} from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import { markNeedsPruning } from '../../machinery/needs-pruning.js';
import { formerVersion } from '../../registry/former-versions.js';
import { typeOf } from '../../schema/catalogue.js';
import { DecodeError, decodeTree } from '../../schema/json/decode.js';
import { sentKind } from '../../schema/json/sent-kind.js';
import type { StructType } from '../../schema/type.js';
import { checkCustomKind, unknownConversion, unknownKind } from './decode-body.js';
import { type Endpoint, toStorage } from '../contract/endpoint.js';

/**
 * The object as it is stored, with its defaults. `seen` is the kind it was shown as: the endpoint's own, or that of
 * a subresource, which stays as it is. The tree is used up. Strict, it may have no fields its type does not know; those
 * of custom resources go when they are stored.
 */
export function decodeChanged(
  endpoint: Endpoint,
  seen: GroupVersionKind,
  tree: JsonObject,
  strict = false,
): KubeObject {
  if (seen.kind !== endpoint.kind.kind) return decodeSubresource(endpoint, seen, tree, strict);
  if (endpoint.type.unstructured !== undefined) checkCustomKind(endpoint.kind, tree as unknown as KubeObject);
  const isFormer = !endpoint.definition.custom && statesFormerVersion(endpoint, tree);
  const versioned = endpoint.definition.custom ? endpoint : inItsVersion(endpoint, tree, isFormer);
  const object = strict || !endpoint.definition.custom ? decode(versioned.type, tree, strict) : asItIs(endpoint, tree);
  object.kind = versioned.kind.kind;
  object.apiVersion = apiVersionOf(versioned.kind);
  object.metadata ??= {};
  const unconvertible = versioned.version.unconvertible?.(object);
  if (unconvertible !== undefined) throw new StatusError(500, '', unconvertible);
  if (isFormer) endpoint.definition.storage?.fromFormer?.(object);
  versioned.version.defaults?.(object);
  const stored = toStorage(versioned, object);
  if (object === stored && endpoint.definition.custom && !strict) markNeedsPruning(stored);
  return stored;
}

/** What the schema of a custom resource does not know is seen by those who come later, and goes when it is stored. */
function asItIs({ type }: Endpoint, tree: JsonObject): KubeObject {
  type.unstructured?.readMetadata(tree);
  return tree as unknown as KubeObject;
}

/** Whether a tree says that it is of a version that is served no more and had the members of the one that is kept. */
function statesFormerVersion({ kind: seen, definition }: Endpoint, tree: JsonObject): boolean {
  const { kind, apiVersion } = statedKind(tree, seen);
  if (kind !== seen.kind || formerVersion(kind, apiVersion) !== 'same-json') return false;
  const { group, version } = parseApiVersion(apiVersion);
  return group !== definition.group || definition.versions.every((one) => one.version !== version);
}

/** A tree that says it is of another version of its kind is read as that, one of a former version as the one that is kept. */
function inItsVersion(endpoint: Endpoint, tree: JsonObject, isFormer: boolean): Endpoint {
  const { kind, apiVersion } = isFormer
    ? { kind: endpoint.kind.kind, apiVersion: keptApiVersion(endpoint) }
    : statedKind(tree, endpoint.kind);
  if (kind === endpoint.kind.kind && apiVersion === apiVersionOf(endpoint.kind)) return endpoint;
  const stated = { ...parseApiVersion(apiVersion), kind };
  const type = typeOf(stated.group, stated.version, kind);
  if (type === undefined) throw new DecodeError(unknownKind(endpoint.kind, kind, apiVersion));
  const version = endpoint.definition.versions.find((one) => one.version === stated.version);
  if (kind !== endpoint.kind.kind || stated.group !== endpoint.kind.group || version === undefined) {
    // As what it says it is it must be readable first.
    decode(type, tree, false);
    throw new StatusError(500, '', unknownConversion(stated, endpoint.kind));
  }
  return { ...endpoint, kind: stated, version, type, listType: endpoint.listType };
}

/** The version that is kept, of the endpoint's group: events are kept as another group's. */
const keptApiVersion = ({ kind, definition }: Endpoint): string =>
  definition.storage?.group === undefined
    ? apiVersionOf({ ...kind, version: definition.storageVersion })
    : apiVersionOf(kind);

function decode(type: StructType, tree: JsonObject, strict: boolean): KubeObject {
  const { object, strictErrors } = decodeTree(type, tree, { strict: strict && type.unstructured === undefined });
  if (strictErrors.length > 0) throw new DecodeError(`strict decoding error: ${strictErrors.join(', ')}`);
  return object as unknown as KubeObject;
}

function decodeSubresource(endpoint: Endpoint, seen: GroupVersionKind, tree: JsonObject, strict: boolean): KubeObject {
  const { kind, apiVersion } = statedKind(tree, seen);
  const stated = { ...parseApiVersion(apiVersion), kind };
  const type = typeOf(stated.group, stated.version, kind);
  if (type === undefined) throw new DecodeError(unknownKind(seen, kind, apiVersion));
  if (kind !== seen.kind) throw new StatusError(500, '', unknownConversion(stated, seen));
  const object = decode(type, tree, strict);
  const subresources = Object.values(endpoint.definition.subresources ?? {});
  subresources.find((each) => each.kind === seen.kind)?.defaults?.(object);
  return object;
}

function statedKind(tree: JsonObject, seen: GroupVersionKind): { readonly kind: string; readonly apiVersion: string } {
  const sent = sentKind(tree);
  const fault = apiVersionFault(sent.apiVersion);
  if (fault !== undefined) throw new DecodeError(fault);
  return { kind: sent.kind || seen.kind, apiVersion: apiVersionOf(meantVersion(sent.apiVersion, seen)) };
}

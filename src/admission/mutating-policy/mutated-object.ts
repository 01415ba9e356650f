// What a mutation makes of an object.
import type { Mutation } from '../../cel/compiled-policy.js';
import { applyJsonPatch, JsonPatchError, JsonPatchTestFailed } from '../../machinery/json-patch.js';
import { apiVersionOf, type GroupVersionKind, type JsonObject, type KubeObject } from '../../machinery/object.js';
import { internalError } from '../../machinery/status.js';
import { MergeUnownedError, mergeUnowned } from '../../schema/apply/merge-unowned.js';
import { deepCopy } from '../../schema/deep-copy.js';
import { DecodeError } from '../../schema/json/decode.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import type { ServedResources } from '../matching/seen-request.js';

type Served = Pick<ServedResources, 'typeOf' | 'toStored'>;

/** The mutation cannot be made; the policy says what becomes of the request. */
export class MutationError extends Error {}

/**
 * The object as it is stored (or the view of it that was seen), undefined where nothing is to be changed. `object` is
 * the one that was seen and stays as it is. Throws MutationError, or StatusError for what no policy may overlook.
 */
export function mutatedObject(
  served: Served,
  matched: ResourceMatch,
  object: Readonly<JsonObject>,
  mutation: Mutation,
): KubeObject | undefined {
  switch (mutation.kind) {
    case 'error':
      throw new MutationError(mutation.error);
    case 'apply-configuration':
      return applied(served, matched, object, mutation);
    case 'json-patch':
      return patched(served, matched, object, mutation.operations);
  }
}

function applied(
  served: Served,
  { resource, kind }: ResourceMatch,
  object: Readonly<JsonObject>,
  { configuration, makesNull = false }: Extract<Mutation, { kind: 'apply-configuration' }>,
): KubeObject {
  const type = served.typeOf(kind);
  const failed = (why: string): MutationError => new MutationError(`error applying patch: ${why}`);
  if (type === undefined) {
    throw failed(`failed to convert patch object to typed object: no corresponding type for ${kindText(kind)}`);
  }
  let merged: unknown;
  try {
    const whole = { ...configuration, apiVersion: apiVersionOf(kind), kind: kind.kind };
    merged = mergeUnowned(object, whole, type, { makesNull });
  } catch (error) {
    if (error instanceof MergeUnownedError) throw failed(error.message);
    throw error;
  }
  try {
    return served.toStored(resource, kind, deepCopy(merged) as JsonObject);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new MutationError(`unable to convert unstructured object to ${kindText(kind)}: ${error.message}`);
  }
}

const kindText = ({ group, version, kind }: GroupVersionKind): string => `${group}/${version}, Kind=${kind}`;

function patched(
  served: Served,
  { resource, kind }: ResourceMatch,
  object: Readonly<JsonObject>,
  operations: readonly JsonObject[],
): KubeObject | undefined {
  let made: unknown;
  try {
    made = applyJsonPatch(object, operations);
  } catch (error) {
    // A test that fails is how a patch says that it is not for this object.
    if (error instanceof JsonPatchTestFailed) return undefined;
    if (error instanceof JsonPatchError) throw new MutationError(`JSON Patch: ${error.message}`);
    throw error;
  }
  try {
    return served.toStored(resource, kind, deepCopy(made) as JsonObject, true);
  } catch (error) {
    if (error instanceof DecodeError) throw internalError(error.message);
    throw error;
  }
}

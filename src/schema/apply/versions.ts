// Managers may have written in other versions than the request's: their field sets are of those versions.
import type { JsonObject } from '../../machinery/object.js';
import type { StructType } from '../type.js';
import { TypedValueError } from './shape.js';
import { validateTyped } from './validate.js';

/** What is known of an object's kind in each version. */
export interface Versions {
  /**
   * The kind's type in a version; undefined when the version is no longer served. Throws OtherVersionError where one that
   * is gone is a fault.
   */
  readonly typeAt: (apiVersion: string) => StructType | undefined;
  /** Converts a whole object between served versions; neither changes nor keeps it. Throws UnconvertedError. */
  readonly convert: (object: JsonObject, fromApiVersion: string, toApiVersion: string) => JsonObject;
}

/** The conversion failed: an apply reports why, any other write goes on without knowing whose fields those are. */
export class UnconvertedError extends Error {
  constructor(readonly why: unknown) {
    super('an object could not be converted');
  }
}

/** There is no such version, or what an object becomes in it does not fit its type. */
export class OtherVersionError extends Error {}

/** Versions of a kind that has only one. */
export const singleVersion = (apiVersion: string, type: StructType): Versions => ({
  typeAt: (wanted) => (wanted === apiVersion ? type : undefined),
  convert: (object) => object,
});

export interface VersionedObject {
  readonly apiVersion: string;
  readonly value: JsonObject;
  readonly type: StructType;
}

/**
 * Undefined when there is no such version any more. Throws OtherVersionError, which says what could not be done in the
 * words of `doing`.
 */
export function atVersion(
  object: VersionedObject,
  apiVersion: string,
  versions: Versions,
  doing = '',
): VersionedObject | undefined {
  if (object.apiVersion === apiVersion) return object;
  const type = versions.typeAt(apiVersion);
  if (type === undefined) return undefined;
  const value = versions.convert(withoutManagedFields(object.value), object.apiVersion, apiVersion);
  if (type.unstructured !== undefined) checkFits(value, type, doing);
  return { apiVersion, type, value };
}

/** Who owns what is said of one version, and no part of what is converted or applied. */
// hot: on every apply. Member by member: to spread the rest of an object costs the engine several times as much.
export function withoutManagedFields(object: Readonly<JsonObject>): JsonObject {
  const metadata: JsonObject = {};
  const given = (object['metadata'] ?? {}) as JsonObject;
  for (const name in given) if (name !== 'managedFields') metadata[name] = given[name];
  return { ...object, metadata };
}

/** The versions of a custom resource differ by their schemas alone: what one has another may not know. */
function checkFits(value: JsonObject, type: StructType, doing: string): void {
  try {
    validateTyped(value, type);
  } catch (error) {
    throw error instanceof TypedValueError ? new OtherVersionError(`${doing}${error.message}`) : error;
  }
}

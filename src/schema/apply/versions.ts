// Managers may have written in other versions than the request's: their field sets are of those versions.
import type { JsonObject } from '../../machinery/object.js';
import type { StructType } from '../type.js';

/** What is known of an object's kind in each version. */
export interface Versions {
  /** The kind's type in a version; undefined when the version is no longer served. */
  readonly typeAt: (apiVersion: string) => StructType | undefined;
  /** Converts a whole object between served versions; neither changes nor keeps it. Throws UnconvertedError. */
  readonly convert: (object: JsonObject, fromApiVersion: string, toApiVersion: string) => JsonObject;
}

/** Whoever converts could not: an apply is told why, any other write goes on without knowing whose fields those are. */
export class UnconvertedError extends Error {
  constructor(readonly why: unknown) {
    super('an object could not be converted');
  }
}

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

/** Undefined when there is no such version any more. */
export function atVersion(
  object: VersionedObject,
  apiVersion: string,
  versions: Versions,
): VersionedObject | undefined {
  if (object.apiVersion === apiVersion) return object;
  const type = versions.typeAt(apiVersion);
  if (type === undefined) return undefined;
  return { apiVersion, type, value: versions.convert(object.value, object.apiVersion, apiVersion) };
}

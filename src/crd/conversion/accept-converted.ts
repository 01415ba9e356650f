// What a conversion webhook's answer comes to: the objects, or why there are none.
import { setMember } from '../../lib/values/plain-object.js';
import type { JsonObject } from '../../machinery/object.js';
import { encodeTree } from '../../schema/json/encode.js';
import type { ReviewAnswer } from '../../schema/json/sent-review.js';
import type { FailureType } from './metrics.js';
import { restoreMetadata } from './restore-metadata.js';
import { readReview, ReviewError, type ReviewVersion } from './review.js';

/** The request, as far as its answer has to be judged by it. */
export interface ConversionRequest {
  readonly version: ReviewVersion;
  readonly uid: string;
  readonly apiVersion: string;
  /** Of each object what a webhook may not change. */
  readonly originals: readonly Original[];
}

export interface Original {
  readonly kind: string;
  readonly metadata: unknown;
}

/** So many characters of a webhook's message, or of an error about it, are passed on. */
const MAX_REPORTED_CHARACTERS = 64 * 1024;

export class ConversionFailure extends Error {
  constructor(
    readonly type: FailureType,
    message: string,
    /** The client sees the message alone. */
    readonly bare = false,
  ) {
    super(message.slice(0, MAX_REPORTED_CHARACTERS));
  }
}

/** Throws ConversionFailure. */
export function acceptConverted(request: ConversionRequest, answer: ReviewAnswer): JsonObject[] {
  const { originals, apiVersion } = request;
  const converted = objectsIn(request, answer);
  if (converted.length !== originals.length) {
    const counts = `${converted.length} objects, expected ${originals.length}`;
    throw new ConversionFailure('partial_response', `returned ${counts}`);
  }
  return originals.map((original, index) => accepted(original, converted[index], apiVersion));
}

function objectsIn({ version, uid }: ConversionRequest, answer: ReviewAnswer): readonly unknown[] {
  try {
    return readReview(version, uid, answer);
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    throw new ConversionFailure(error.unreadable ? 'call' : 'malformed_response', `failed: ${error.message}`);
  }
}

/** What came back, with all that a webhook may not change as it was. */
function accepted(original: Original, converted: unknown, apiVersion: string): JsonObject {
  const invalid = (message: string, bare = false): ConversionFailure =>
    new ConversionFailure('invalid_converted_object', message, bare);
  if (converted === null || converted === undefined) throw invalid('unexpected end of JSON input', true);
  if (typeof converted !== 'object' || Array.isArray(converted)) {
    throw invalid(`returned invalid object at index 0: no object`);
  }
  const object = converted as JsonObject;
  const { kind } = object;
  if (typeof kind !== 'string' || kind === '') {
    throw invalid(`Object 'Kind' is missing in '${encodeTree(object, 'asIs')}'`, true);
  }
  const got = typeof object['apiVersion'] === 'string' ? object['apiVersion'] : '';
  if (got !== apiVersion) {
    throw invalid(`returned invalid object at index 0: invalid groupVersion (expected ${apiVersion}, received ${got})`);
  }
  if (kind !== original.kind) {
    throw invalid(`returned invalid object at index 0: invalid kind (expected ${original.kind}, received ${kind})`);
  }
  const restored = restoreMetadata(original.metadata, object);
  if ('fault' in restored) throw invalid(`returned ${restored.fault}`);
  setMember(object, 'metadata', restored.metadata);
  return object;
}

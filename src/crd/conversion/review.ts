// The request to a conversion webhook, and its answer.
import { goQuote } from '../../lib/go/quote.js';
import { isPlainObject } from '../../lib/values/plain-object.js';
import { workOnTree } from '../../machinery/size-hint.js';
import type { JsonObject } from '../../machinery/object.js';
import { transferPieces } from '../../schema/json/transfer.js';
import { DecodeError } from '../../schema/json/decode.js';
import { encodeTree } from '../../schema/json/encode.js';
import { readSentReview, type ReviewAnswer, type SentReview, sentKindText } from '../../schema/json/sent-review.js';

const GROUP = 'apiextensions.k8s.io';
const KIND = 'ConversionReview';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The first version the CRD names that is known here; validation sees to it that there is one. */
export const reviewVersion = (versions: readonly string[]): ReviewVersion =>
  versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1') ?? 'v1';

export interface ConversionRequest {
  readonly uid: string;
  readonly desiredAPIVersion: string;
  readonly objects: readonly Readonly<JsonObject>[];
}

/** The review as JSON; large objects are encoded cooperatively. An empty response is part of the request. */
export async function reviewBody(
  version: ReviewVersion,
  { uid, desiredAPIVersion, objects }: ConversionRequest,
): Promise<string | Buffer> {
  const head =
    `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":{"uid":${JSON.stringify(uid)},` +
    `"desiredAPIVersion":${JSON.stringify(desiredAPIVersion)},"objects":[`;
  const tail = ']},"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}\n';
  const work = workOnTree(objects);
  if (!work.isLarge) return `${head}${objects.map((object) => encodeTree(object)).join()}${tail}`;
  const pieces: Uint8Array[] = [Buffer.from(head)];
  for (const object of objects) {
    if (pieces.length > 1) pieces.push(Buffer.from(','));
    pieces.push(await work.run(transferPieces(object)));
  }
  return Buffer.concat([...pieces, Buffer.from(tail)]);
}

/** Why an answer is none. */
export class ReviewError extends Error {
  constructor(
    message: string,
    /** It is not even a review. */
    readonly unreadable = false,
  ) {
    super(message);
  }
}

/** The objects that were answered. Throws ReviewError. */
export function readReview(version: ReviewVersion, uid: string, answer: ReviewAnswer): readonly unknown[] {
  const { tree, kind, apiVersion } = sentReview(version, answer);
  const review = isPlainObject(tree) ? tree : {};
  const { response } = review;
  // The older review never looked at what it got.
  if (version === 'v1' && (kind !== KIND || apiVersion !== `${GROUP}/v1`)) {
    const got = sentKindText({ kind, apiVersion });
    throw new ReviewError(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${got}`);
  }
  if (!isPlainObject(response)) throw new ReviewError('no response provided');
  const answered = textOf(response['uid']);
  if (version === 'v1' && answered !== uid) {
    throw new ReviewError(`expected response.uid=${goQuote(uid)}, got ${goQuote(answered)}`);
  }
  const result = isPlainObject(response['result']) ? response['result'] : {};
  const status = textOf(result['status']);
  if (status !== 'Success') {
    throw new ReviewError(textOf(result['message']) || `response.result.status was '${status}', not 'Success'`);
  }
  const { convertedObjects } = response;
  return Array.isArray(convertedObjects) ? convertedObjects : [];
}

function sentReview(version: ReviewVersion, answer: ReviewAnswer): SentReview {
  try {
    return readSentReview(answer, { group: GROUP, version, kind: KIND });
  } catch (error) {
    if (error instanceof DecodeError) throw new ReviewError(error.message, true);
    throw error;
  }
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

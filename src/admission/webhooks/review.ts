// The AdmissionReview sent to a webhook, and its response.
import { goQuote } from '../../lib/go/quote.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import { mustType } from '../../schema/catalogue.js';
import type { AdmissionResponse } from '../../schema/generated/admission.v1.js';
import { decodeTree } from '../../schema/json/decode.js';
import { readSentReview, sentKindText } from '../../schema/json/sent-review.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import { optionsValue, requestHead } from '../matching/request-value.js';
import type { SeenRequest } from '../matching/seen-request.js';

const GROUP = 'admission.k8s.io';
const KIND = 'AdmissionReview';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The first version a hook names that is known here. */
export const reviewVersion = (versions: readonly string[] | null): ReviewVersion | undefined =>
  versions?.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1');

/** The review as JSON, its members in kube-apiserver's order. */
export async function reviewBody(
  version: ReviewVersion,
  uid: string,
  request: SeenRequest,
  matched: ResourceMatch,
): Promise<string | Buffer> {
  const { attributes } = request;
  const head = JSON.stringify(requestHead(request, matched, uid));
  const object = await (request.encodeConnect(matched) ?? request.encode(request.object, matched));
  const oldObject = await request.encode(request.old, matched);
  const pieces = [
    `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":${head.slice(0, -1)},"object":`,
    object,
    ',"oldObject":',
    oldObject,
    `,"dryRun":${attributes.context.dryRun},"options":${JSON.stringify(optionsValue(attributes))}}}\n`,
  ];
  if (typeof object === 'string' && typeof oldObject === 'string') return pieces.join('');
  return Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)));
}

export interface HookAnswer {
  readonly allowed: boolean;
  /** A JSON patch in JSON; empty when there is none. */
  readonly patch: Buffer;
  readonly patchType: string;
  readonly status: AdmissionResponse['status'];
  readonly auditAnnotations: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
}

/** An answer that can be read, but is not one to the review. */
export class InvalidAnswer extends Error {}

interface Review {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly response?: AdmissionResponse;
}

/** Throws a DecodeError for what is no review, and InvalidAnswer for one that does not answer ours. */
export function readAnswer(version: ReviewVersion, uid: string, mutating: boolean, answer: RestAnswer): HookAnswer {
  const review = decodeReview(version, answer);
  const { response } = review;
  if (response === undefined) throw new InvalidAnswer('webhook response was absent');
  if (version === 'v1') check(review, response, uid, mutating);
  const patch = mutating ? Buffer.from(response.patch ?? '', 'base64') : Buffer.alloc(0);
  return {
    allowed: response.allowed,
    patch,
    // The older review never looked at the type.
    patchType: version === 'v1' ? (response.patchType ?? '') : 'JSONPatch',
    status: response.status,
    auditAnnotations: response.auditAnnotations ?? {},
    warnings: response.warnings ?? [],
  };
}

function decodeReview(version: ReviewVersion, answer: RestAnswer): Review {
  const { tree } = readSentReview(answer, { group: GROUP, version, kind: KIND });
  return decodeTree(mustType(`io.k8s.api.admission.${version}.${KIND}`), tree ?? {}, { strict: false }).object;
}

function check(
  { kind = '', apiVersion = '' }: Review,
  { uid, patch = '', patchType }: AdmissionResponse,
  wantedUid: string,
  mutating: boolean,
): void {
  if (uid !== wantedUid) {
    throw new InvalidAnswer(`expected response.uid=${goQuote(wantedUid)}, got ${goQuote(uid)}`);
  }
  if (kind !== KIND || apiVersion !== `${GROUP}/v1`) {
    const got = sentKindText({ kind, apiVersion });
    throw new InvalidAnswer(`expected webhook response of ${GROUP}/v1, Kind=${KIND}, got ${got}`);
  }
  if (!mutating) {
    if (patch !== '') throw new InvalidAnswer('validating webhook may not return response.patch');
    if (patchType !== undefined) throw new InvalidAnswer('validating webhook may not return response.patchType');
    return;
  }
  if (patch !== '' && patchType === undefined) {
    throw new InvalidAnswer('webhook returned response.patch but not response.patchType');
  }
  if (patch === '' && patchType !== undefined) {
    throw new InvalidAnswer('webhook returned response.patchType but not response.patch');
  }
  if (patchType === '') throw new InvalidAnswer('webhook returned invalid response.patchType of ""');
}

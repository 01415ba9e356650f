// What a webhook is asked, and what it answers.
import { goQuote } from '../../lib/go-quote.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import { mustType } from '../../schema/catalogue.js';
import type { AdmissionResponse } from '../../schema/generated/admission.v1.js';
import { DecodeError, decodeTree, parseJsonTree } from '../../schema/json/decode.js';
import { sentKind, unreadable } from '../../schema/json/sent-kind.js';
import { parseYaml } from '../../schema/yaml/parse.js';
import type { ResourceMatch } from '../validating-policy/match.js';
import { requestValue } from '../validating-policy/request-value.js';
import type { SeenRequest } from '../validating-policy/seen-request.js';

const GROUP = 'admission.k8s.io';
const KIND = 'AdmissionReview';
const SCHEME = 'pkg/runtime/scheme.go:110';

export type ReviewVersion = 'v1' | 'v1beta1';

/** The first version a hook names that is known here. */
export const reviewVersion = (versions: readonly string[] | null): ReviewVersion | undefined =>
  versions?.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1');

/** The review as JSON, its members in the reference's order. */
export function reviewText(version: ReviewVersion, uid: string, request: SeenRequest, matched: ResourceMatch): string {
  const { dryRun, options, ...about } = requestValue(request, matched);
  const object = request.connectText(matched) ?? request.text(request.object, matched);
  const oldObject = request.text(request.old, matched);
  return (
    `{"kind":"${KIND}","apiVersion":"${GROUP}/${version}","request":` +
    `${JSON.stringify({ ...about, uid }).slice(0, -1)},"object":${object},"oldObject":${oldObject},` +
    `"dryRun":${dryRun},"options":${JSON.stringify(options)}}}`
  );
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
export function readAnswer(
  version: ReviewVersion,
  uid: string,
  mutating: boolean,
  { status, contentType, body }: RestAnswer,
): HookAnswer {
  if (body.length === 0) {
    throw new DecodeError(`0-length response with status code: ${status} and content type: ${contentType}`);
  }
  const review = decodeReview(version, body);
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

function decodeReview(version: ReviewVersion, body: Buffer): Review {
  const tree = parse(body);
  const { kind, apiVersion } = sentKind(tree);
  checkKind(version, kind, apiVersion);
  return decodeTree(mustType(`io.k8s.api.admission.${version}.${KIND}`), tree ?? {}, { strict: false }).object;
}

const BRACE = 0x7b;

/** JSON, or YAML when it does not look like it. */
function parse(body: Buffer): unknown {
  try {
    const first = body.find((byte) => byte > 0x20);
    return first === BRACE ? parseJsonTree(body).value : parseYaml(body).value;
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message) : error;
  }
}

/** What does not say what it is, is taken for what was asked for. */
function checkKind(version: ReviewVersion, kind: string, apiVersion: string): void {
  if ((kind === '' || kind === KIND) && (apiVersion === '' || apiVersion === `${GROUP}/${version}`)) return;
  const isReview = kind === KIND && (apiVersion === `${GROUP}/v1` || apiVersion === `${GROUP}/v1beta1`);
  if (isReview || (kind === 'Status' && apiVersion === 'v1')) {
    const from = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
    throw new DecodeError(`converting (${from}) to (${version}.${KIND}): unknown conversion`);
  }
  const [what, where] = [kind || KIND, apiVersion || `${GROUP}/${version}`].map(goQuote);
  throw new DecodeError(`no kind ${what} is registered for version ${where} in scheme ${goQuote(SCHEME)}`);
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
    const got = `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;
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

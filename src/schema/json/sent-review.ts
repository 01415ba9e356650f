// What a webhook sent back, as far as reviews of all kinds have in common.
import { goQuote } from '../../lib/go/quote.js';
import { apiVersionOf, type GroupVersionKind } from '../../machinery/object.js';
import { parseYaml } from '../yaml/parse.js';
import { DecodeError, parseJsonTree } from './decode.js';
import { type SentKind, sentKind, unreadable } from './sent-kind.js';

export interface SentReview extends SentKind {
  /** Parsed JSON. */
  readonly tree: unknown;
}

export interface ReviewAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** The types that most clients of reviews know. */
const SCHEME = 'pkg/runtime/scheme.go:110';
/** Versions reviews come in. */
const VERSIONS = ['v1', 'v1beta1'];

/** Throws a DecodeError for what is not the requested review; one that does not state its kind may be. */
export function readSentReview(
  { status, contentType, body }: ReviewAnswer,
  wanted: GroupVersionKind,
  scheme = SCHEME,
): SentReview {
  if (body.length === 0) {
    throw new DecodeError(`0-length response with status code: ${status} and content type: ${contentType}`);
  }
  const tree = parse(body);
  const sent = sentKind(tree);
  checkKind(sent, wanted, scheme);
  return { ...sent, tree };
}

const BRACE = 0x7b;

const isJson = (body: Buffer): boolean => body.find((byte) => byte > 0x20) === BRACE;

/** JSON, or YAML when it does not look like it. */
function parse(body: Buffer): unknown {
  try {
    return isJson(body) ? parseJsonTree(body).value : parseYaml(body).value;
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message) : error;
  }
}

function checkKind({ kind, apiVersion }: SentKind, wanted: GroupVersionKind, scheme: string): void {
  const { group, version, kind: review } = wanted;
  if ((kind === '' || kind === review) && (apiVersion === '' || apiVersion === apiVersionOf(wanted))) return;
  const isReview = kind === review && VERSIONS.some((one) => apiVersion === apiVersionOf({ group, version: one }));
  if (isReview || (kind === 'Status' && apiVersion === 'v1')) {
    const from = `${apiVersion.slice(apiVersion.indexOf('/') + 1)}.${kind}`;
    throw new DecodeError(`converting (${from}) to (${version}.${review}): unknown conversion`);
  }
  const [what, where] = [kind || review, apiVersion || apiVersionOf(wanted)].map(goQuote);
  throw new DecodeError(`no kind ${what} is registered for version ${where} in scheme ${goQuote(scheme)}`);
}

/** `admission.k8s.io/v1, Kind=AdmissionReview`; what is not said leaves its place empty. */
export const sentKindText = ({ kind, apiVersion }: SentKind): string =>
  `${apiVersion.includes('/') ? apiVersion : `/${apiVersion}`}, Kind=${kind}`;

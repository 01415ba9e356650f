// One question to a webhook, as often as it takes: a webhook that stumbles is asked again, for a while.
import { DEADLINE_EXCEEDED } from '../../outbound/outbound-error.js';
import type { RestAnswer } from '../../machinery/rest-call.js';
import { StatusError } from '../../machinery/status.js';
import { DecodeError } from '../../schema/json/decode.js';
import { decodeAnswer } from '../../schema/decode-answer.js';
import type { SubjectAccessReviewStatus } from '../../schema/generated/authorization.v1.js';
import type { RoundTripResult } from './metrics.js';
import { REVIEW_GROUP, REVIEW_KIND, type ReviewVersion } from './review.js';

/** Posts a review. Throws what stood in the way, in words. */
export type PostReview = (body: string) => Promise<RestAnswer>;

export interface AskOptions {
  readonly post: PostReview;
  readonly version: ReviewVersion;
  readonly observe: (result: RoundTripResult, seconds: number) => void;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly random: () => number;
}

export type Asked =
  | { readonly status: SubjectAccessReviewStatus }
  | { readonly error: string; readonly result: RoundTripResult };

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const WAIT_FACTOR = 1.5;
const WAIT_JITTER = 0.2;

export async function askWebhook(options: AskOptions, body: string): Promise<Asked> {
  const { observe, nowMs, wait, random } = options;
  let waitMs = FIRST_WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    const startMs = nowMs();
    try {
      const status = await ask(options, body);
      observe('success', (nowMs() - startMs) / 1000);
      return { status };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const result = isTimeout(error) ? 'timeout' : 'error';
      observe(result, (nowMs() - startMs) / 1000);
      if (attempt === MAX_ATTEMPTS || !isPassing(error)) return { error: error.message, result };
    }
    await wait(waitMs * (1 + random() * WAIT_JITTER));
    waitMs *= WAIT_FACTOR;
  }
}

async function ask({ post, version }: AskOptions, body: string): Promise<SubjectAccessReviewStatus> {
  const { status, contentType, body: answer } = await post(body);
  if (answer.length === 0) {
    throw new DecodeError(`0-length response with status code: ${status} and content type: ${contentType}`);
  }
  const review = decodeAnswer(answer, { group: REVIEW_GROUP, version, kind: REVIEW_KIND });
  return review['status'] as SubjectAccessReviewStatus;
}

const isTimeout = (error: Error): boolean =>
  (error instanceof StatusError && error.code === 504) || error.message.endsWith(DEADLINE_EXCEEDED);

const PASSING_REASONS: ReadonlySet<string> = new Set(['InternalError', 'Timeout', 'TooManyRequests', 'ServerTimeout']);

/** What may be over in a moment. A time-out is not: whoever waits has waited long enough. */
const isPassing = (error: Error): boolean =>
  error instanceof StatusError
    ? PASSING_REASONS.has(error.reason) || (error.details?.retryAfterSeconds ?? 0) > 0
    : /connection reset by peer$|client connection lost$/.test(error.message);

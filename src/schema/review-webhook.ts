// One request to a webhook that answers by filling in a review, with retries: a webhook that fails is called
// again, for a while.
import type { GroupVersionKind } from '../machinery/object.js';
import type { RestAnswer } from '../machinery/rest-call.js';
import { StatusError } from '../machinery/status.js';
import { withSignal } from '../outbound/with-signal.js';
import { decodeAnswer } from './decode-answer.js';
import { DecodeError } from './json/decode.js';

/** Posts a review. Throws what stood in the way, in words. */
export type PostReview = (body: string, signal?: AbortSignal) => Promise<RestAnswer>;

/** A review as it is sent: on a line of its own. */
export const reviewText = (review: object): string => `${JSON.stringify(review)}\n`;

export interface ReviewCallOptions {
  readonly post: PostReview;
  /** What the review is. */
  readonly review: GroupVersionKind;
  /** Called after every attempt with what was thrown and how long the attempt lasted. */
  readonly attempted?: (error: Error | undefined, seconds: number) => void;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<void>;
  readonly random: () => number;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const WAIT_FACTOR = 1.5;
const WAIT_JITTER = 0.2;

/** The review that came back. Throws what the last attempt met. */
export async function callReviewWebhook(options: ReviewCallOptions, body: string): Promise<Record<string, unknown>> {
  const { attempted, nowMs, wait, random, signal } = options;
  let waitMs = FIRST_WAIT_MS;
  for (let attempt = 1; ; attempt++) {
    const startMs = nowMs();
    const seconds = (): number => (nowMs() - startMs) / 1000;
    try {
      const answer = await send(options, body);
      attempted?.(undefined, seconds());
      return answer;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      attempted?.(error, seconds());
      if (attempt === MAX_ATTEMPTS || !isPassing(error)) throw error;
      const waited = wait(waitMs * (1 + random() * WAIT_JITTER));
      await (signal === undefined ? waited : withSignal(waited, signal).catch(() => undefined));
      if (signal?.aborted) throw error;
    }
    waitMs *= WAIT_FACTOR;
  }
}

async function send({ post, review, signal }: ReviewCallOptions, body: string): Promise<Record<string, unknown>> {
  const { status, contentType, body: answer } = await post(body, signal);
  if (answer.length > 0) return decodeAnswer(answer, review);
  throw new DecodeError(`0-length response with status code: ${status} and content type: ${contentType}`);
}

const PASSING_REASONS: ReadonlySet<string> = new Set(['InternalError', 'Timeout', 'TooManyRequests', 'ServerTimeout']);

/** For answers without a reason. */
const PASSING_CODES: ReadonlySet<number> = new Set([429, 500, 504]);

/** What may be over in a moment. A time-out is not: whoever waits has waited long enough. */
const isPassing = (error: Error): boolean =>
  error instanceof StatusError
    ? PASSING_REASONS.has(error.reason) ||
      (error.reason === '' && PASSING_CODES.has(error.code)) ||
      (error.details?.retryAfterSeconds ?? 0) > 0
    : /connection reset by peer$|client connection lost$/.test(error.message);

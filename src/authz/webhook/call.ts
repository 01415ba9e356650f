// One call of an authorization webhook.
import { errorText } from '../../lib/text/error-text.js';
import { StatusError } from '../../machinery/status.js';
import { DEADLINE_EXCEEDED } from '../../outbound/outbound-error.js';
import { callReviewWebhook, type ReviewCallOptions } from '../../schema/review-webhook.js';
import type { SubjectAccessReviewStatus } from '../../schema/generated/authorization.v1.js';
import type { RoundTripResult } from './metrics.js';
import { REVIEW_GROUP, REVIEW_KIND, type ReviewVersion } from './review.js';

export interface WebhookCallOptions extends Omit<ReviewCallOptions, 'review' | 'attempted'> {
  readonly version: ReviewVersion;
  readonly observe: (result: RoundTripResult, seconds: number) => void;
}

export type ReviewResult =
  | { readonly status: SubjectAccessReviewStatus }
  | { readonly error: string; readonly result: RoundTripResult };

export async function callWebhook(options: WebhookCallOptions, body: string): Promise<ReviewResult> {
  const { version, observe, signal } = options;
  const resultOf = (error: Error | undefined): RoundTripResult =>
    error !== undefined && signal?.aborted ? 'canceled' : roundTripResult(error);
  const call: ReviewCallOptions = {
    ...options,
    review: { group: REVIEW_GROUP, version, kind: REVIEW_KIND },
    attempted: (error, seconds) => observe(resultOf(error), seconds),
  };
  try {
    const review = await callReviewWebhook(call, body);
    return { status: review['status'] as SubjectAccessReviewStatus };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { error: errorText(error), result: resultOf(error) };
  }
}

function roundTripResult(error: Error | undefined): RoundTripResult {
  if (error === undefined) return 'success';
  const late = (error instanceof StatusError && error.code === 504) || error.message.endsWith(DEADLINE_EXCEEDED);
  return late ? 'timeout' : 'error';
}

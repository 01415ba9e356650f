// Tokens that a webhook judges: it is sent a TokenReview and says who the bearer is.
import type { Logger } from '../../lib/telemetry/log.js';
import { errorText } from '../../lib/text/error-text.js';
import { callReviewWebhook, type ReviewCallOptions, reviewText } from '../../schema/review-webhook.js';
import type { TokenReviewStatus } from '../../schema/generated/authentication.v1.js';
import { intersect } from '../audience.js';
import { type Authenticated, AuthenticationError, type TokenAuthenticator } from '../authenticator.js';

export interface TokenWebhookOptions extends Omit<ReviewCallOptions, 'review' | 'attempted'> {
  readonly version: 'v1' | 'v1beta1';
  /** What a token is for whose audiences the webhook says nothing of. */
  readonly apiAudiences: readonly string[];
  readonly log: Logger;
}

const GROUP = 'authentication.k8s.io';
const KIND = 'TokenReview';

export function createTokenWebhook(options: TokenWebhookOptions): TokenAuthenticator {
  const question: ReviewCallOptions = { ...options, review: { group: GROUP, version: options.version, kind: KIND } };
  return {
    async authenticateToken(token, audiences) {
      const status = await judge(question, reviewOf(options.version, token, audiences), options.log);
      const confirmed = status.audiences ?? [];
      const shared = intersect(audiences, confirmed.length > 0 ? confirmed : options.apiAudiences);
      if (audiences.length > 0 && shared.length === 0) return undefined;
      if (status.authenticated === true) return { user: userOf(status), audiences: shared };
      if (status.error) throw new AuthenticationError(status.error);
      return undefined;
    },
  };
}

const reviewOf = (version: string, token: string, audiences: readonly string[]): string =>
  reviewText({
    kind: KIND,
    apiVersion: `${GROUP}/${version}`,
    metadata: {},
    spec: { token, ...(audiences.length > 0 && { audiences }) },
    status: { user: {} },
  });

async function judge(question: ReviewCallOptions, body: string, log: Logger): Promise<Partial<TokenReviewStatus>> {
  try {
    const { status } = await callReviewWebhook(question, body);
    return (status as TokenReviewStatus | undefined) ?? {};
  } catch (error) {
    // A webhook in trouble knows nobody; another way may know the token.
    log.warning(`Failed to make webhook authenticator request: ${errorText(error)}`);
    throw new AuthenticationError(errorText(error));
  }
}

function userOf({ user }: Partial<TokenReviewStatus>): Authenticated['user'] {
  const { username = '', uid = '', groups, extra } = user ?? {};
  return {
    name: username,
    groups: groups ?? [],
    ...(uid !== '' && { uid }),
    ...(extra && { extra }),
  };
}

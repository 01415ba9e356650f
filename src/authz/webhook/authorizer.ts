// A webhook that decides. Its answers are cached, identical reviews in flight are sent once, and while it is
// slow or down nobody waits for it but those it was to decide about.
import { LRUCache } from 'lru-cache';
import type { ReviewCondition } from '../../cel/review-condition.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { SharedWork } from './shared-work.js';
import { aggregateText } from '../../machinery/field-error.js';
import type { SubjectAccessReviewStatus } from '../../schema/generated/authorization.v1.js';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer } from '../authorizer.js';
import { type ReviewResult, type WebhookCallOptions, callWebhook } from './call.js';
import { matchConditions } from './match-conditions.js';
import type { WebhookMetrics } from './metrics.js';
import { type ReviewSpec, reviewBody, reviewSpec } from './review.js';

export interface WebhookAuthorizerOptions extends Omit<WebhookCallOptions, 'observe' | 'signal'> {
  readonly name: string;
  /** How long answers are cached; 0: they are not. */
  readonly authorizedTtlMs: number;
  readonly unauthorizedTtlMs: number;
  readonly failurePolicy: 'NoOpinion' | 'Deny';
  readonly matchConditions: readonly ReviewCondition[];
  readonly metrics: WebhookMetrics;
  readonly log: Logger;
}

const MAX_CACHED = 8192;
/** The client decides how long a review is; long ones are not cached. */
const MAX_CACHED_LENGTH = 10_000;

interface CachedAnswer {
  readonly result: AuthorizationResult;
  readonly untilMs: number;
}

export function webhookAuthorizer(options: WebhookAuthorizerOptions): Authorizer {
  const { name, failurePolicy, metrics, nowMs } = options;
  const answers = new LRUCache<string, CachedAnswer>({ max: MAX_CACHED });
  const inFlight = new Map<string, SharedWork<AuthorizationResult>>();
  const observe: WebhookCallOptions['observe'] = (result, seconds) => metrics.roundTrip(name, result, seconds);
  const onError = failurePolicy === 'Deny' ? 'deny' : 'no-opinion';

  return {
    authorize(attributes, waiting) {
      const spec = reviewSpec(attributes);
      const match = matchOf(spec);
      if (!match.matches) return NO_OPINION;
      if (match.errors.length > 0) {
        return { decision: onError, reason: '', evaluationError: aggregateText(match.errors) };
      }
      const key = JSON.stringify(spec);
      const known = answers.get(key);
      if (known !== undefined && known.untilMs > nowMs()) return known.result;
      let shared = inFlight.get(key);
      if (shared === undefined || shared.abandoned) shared = begin(spec, key, attributes);
      return shared.join(waiting);
    },
    rulesFor: () => UNKNOWN_RULES,
  };

  function begin(spec: ReviewSpec, key: string, attributes: AuthorizationAttributes): SharedWork<AuthorizationResult> {
    const work = new SharedWork((signal) => ask(spec, key, attributes, signal));
    inFlight.set(key, work);
    const forget = (): void => {
      if (inFlight.get(key) === work) inFlight.delete(key);
    };
    work.done.then(forget, forget);
    return work;
  }

  function matchOf(spec: ReviewSpec): ReturnType<typeof matchConditions> {
    if (options.matchConditions.length === 0) return MATCHES;
    const startMs = nowMs();
    const match = matchConditions(options.matchConditions, spec);
    const seconds = (nowMs() - startMs) / 1000;
    metrics.conditions(name, { seconds, failed: match.errors.length > 0, excluded: !match.matches });
    return match;
  }

  async function ask(
    spec: ReviewSpec,
    key: string,
    attributes: AuthorizationAttributes,
    signal: AbortSignal,
  ): Promise<AuthorizationResult> {
    const answer: ReviewResult = await callWebhook({ ...options, observe, signal }, reviewBody(spec, options.version));
    if ('error' in answer) {
      options.log.warning('Failed to make webhook authorizer request', { authorizer: name, err: answer.error });
      if (onError === 'no-opinion' && !signal.aborted) metrics.failedOpen(name, answer.result);
      return { decision: onError, reason: '', evaluationError: answer.error };
    }
    const result = resultOf(answer.status);
    const ttlMs = answer.status.allowed ? options.authorizedTtlMs : options.unauthorizedTtlMs;
    if (ttlMs > 0 && lengthOf(attributes) < MAX_CACHED_LENGTH) {
      answers.set(key, { result, untilMs: nowMs() + ttlMs });
    }
    return result;
  }
}

const NO_OPINION: AuthorizationResult = { decision: 'no-opinion', reason: '' };
const MATCHES = { matches: true, errors: [] };
const UNKNOWN_RULES = {
  resourceRules: [],
  nonResourceRules: [],
  incomplete: true,
  evaluationError: 'webhook authorizer does not support user rule resolution',
};

/** Its own `evaluationError` is not passed on. */
function resultOf({ allowed, denied = false, reason = '' }: SubjectAccessReviewStatus): AuthorizationResult {
  if (allowed && denied) {
    const evaluationError = 'webhook subject access review returned both allow and deny response';
    return { decision: 'deny', reason, evaluationError };
  }
  return { decision: denied ? 'deny' : allowed ? 'allow' : 'no-opinion', reason };
}

/** The length of what the client has chosen. */
const lengthOf = (a: AuthorizationAttributes): number =>
  [a.namespace, a.verb, a.apiGroup, a.apiVersion, a.resource, a.subresource, a.name, a.path].reduce(
    (length, text) => length + Buffer.byteLength(text),
    0,
  );

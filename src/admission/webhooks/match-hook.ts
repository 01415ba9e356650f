// Whether a webhook is called for a request.
import type { Authorizer } from '../../authz/authorizer.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { forbidden, internalError } from '../../machinery/status.js';
import type { ConditionMetrics } from '../condition-metrics.js';
import { isFault, matchRequest } from '../matching/match.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import { conditionsHold } from '../matching/match-conditions.js';
import { matchInput, policyInput } from '../matching/expression-input.js';
import { MemoizedAnswers } from '../matching/memoized-answers.js';
import type { SeenRequest } from '../matching/seen-request.js';
import type { Hook } from './hook-index.js';

export interface MatchParts {
  readonly authorizer: Pick<Authorizer, 'authorize'>;
  readonly conditionMetrics?: ConditionMetrics;
}

/** The step a webhook belongs to, as metrics name it; match conditions that exclude name it otherwise. */
export type HookType = 'admit' | 'validating';

/** The resource and kind the hook is called with, or undefined. Throws a StatusError when matching fails. */
export function matchHook(
  parts: MatchParts,
  type: HookType,
  hook: Hook,
  request: SeenRequest,
): MaybePromise<ResourceMatch | undefined> {
  return whenReady(matchRequest(hook.criteria, request), (matched) => {
    if (matched === undefined) return undefined;
    if (isFault(matched)) throw matched.status ?? internalError(matched.fault);
    if (hook.conditions === undefined) return matched;
    demandConverted(type, request, matched);
    return underConditions(parts, { type, hook, request, matched });
  });
}

/** Throws where others could not convert the objects for a hook: no failure policy lets that pass, and no hook is to blame. */
export function demandConverted(type: HookType, request: SeenRequest, matched: ResourceMatch): void {
  const why = request.unconverted(matched);
  if (why === undefined) return;
  const status = internalError(why.message);
  throw type === 'admit' ? internalError(status.message) : status;
}

interface ConditionalMatch {
  readonly type: HookType;
  readonly hook: Hook;
  readonly request: SeenRequest;
  readonly matched: ResourceMatch;
}

async function underConditions(
  { authorizer, conditionMetrics }: MatchParts,
  { type, hook, request, matched }: ConditionalMatch,
): Promise<ResourceMatch | undefined> {
  const { attributes } = request;
  const { operation, resource, name } = attributes;
  const compiled = hook.conditions?.();
  if (compiled === undefined) return matched;
  const answers = new MemoizedAnswers(authorizer, attributes.context.waiting);
  const owner = { name: hook.name, kind: 'webhook', operation } as const;
  const objects = {
    object: attributes.connectOptions ?? request.inVersion(request.object, matched),
    oldObject: request.inVersion(request.old, matched),
    params: null,
  };
  const whole = policyInput({ request, matched, objects, namespace: null, ask: answers.ask });
  const input = matchInput(whole, request, matched);
  let observed: readonly [number, number] | undefined;
  const holds = await answers.settle(() =>
    conditionsHold({
      compiled,
      matchInput: () => input,
      observeMatch: (seconds, errors) => (observed = [seconds, errors]),
    }),
  );
  if (observed !== undefined) conditionMetrics?.evaluated({ ...owner, type }, ...observed);
  if (holds === true) return matched;
  if (holds !== false && hook.spec.failurePolicy !== 'Ignore') throw forbidden(resource, name, holds.error);
  conditionMetrics?.excluded({ ...owner, type: type === 'admit' ? 'admit' : 'validate' });
  return undefined;
}

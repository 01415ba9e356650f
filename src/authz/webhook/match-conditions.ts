// Whether a webhook is called for a request.
import type { ReviewCondition } from '../../cel/review-condition.js';
import { type ReviewSpec, conditionRequest } from './review.js';

export interface Match {
  /** False as soon as a condition does not hold, whatever befell the others. */
  readonly matches: boolean;
  readonly errors: readonly string[];
}

export function matchConditions(conditions: readonly ReviewCondition[], spec: ReviewSpec): Match {
  const request = conditionRequest(spec);
  const errors: string[] = [];
  for (const condition of conditions) {
    const result = condition.evaluate(request);
    if ('error' in result) errors.push(result.error);
    else if (!result.holds) return { matches: false, errors };
  }
  return { matches: true, errors };
}

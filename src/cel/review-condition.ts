// The seam between webhooks that are called only for some requests, and the engine that runs their conditions.
import type { ExpressionFault } from './expression-check.js';

export interface ReviewConditionCompiler {
  /** A condition on the spec of a SubjectAccessReview, which it sees as `request`. */
  compileReviewCondition(expression: string): ReviewCondition | ExpressionFault;
}

export interface ReviewCondition {
  readonly expression: string;
  /** `request` as JSON. */
  evaluate(request: object): ConditionResult;
}

export type ConditionResult = { readonly holds: boolean } | { readonly error: string };

// Several authorizers, called in order.
import { append } from '../lib/values/append.js';
import { aggregateText } from '../machinery/field-error.js';
import type { Authorizer, AuthorizationResult, NonResourceRule, ResourceRule } from './authorizer.js';

/** The first that allows or denies decides. When none does, all reasons and errors are joined. */
export function unionOfAuthorizers(members: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes, waiting) {
      // hot: nearly all authorizers answer at once, and a decision must not cost a tick of the event loop.
      const reasons: string[] = [];
      const errors: string[] = [];
      for (let index = 0; index < members.length; index++) {
        const answer = members[index]?.authorize(attributes, waiting);
        if (answer === undefined) continue;
        if (answer instanceof Promise) return rest(answer, index);
        if (settle(answer, reasons, errors)) return answer;
      }
      return noOpinion(reasons, errors);

      async function rest(first: Promise<AuthorizationResult>, at: number): Promise<AuthorizationResult> {
        let answer = await first;
        for (let index = at + 1; ; index++) {
          if (settle(answer, reasons, errors)) return answer;
          const member = members[index];
          if (member === undefined) return noOpinion(reasons, errors);
          answer = await member.authorize(attributes, waiting);
        }
      }
    },
    async rulesFor(user, namespace) {
      const resourceRules: ResourceRule[] = [];
      const nonResourceRules: NonResourceRule[] = [];
      const errors: string[] = [];
      let incomplete = false;
      for (const member of members) {
        const rules = await member.rulesFor(user, namespace);
        append(resourceRules, rules.resourceRules);
        append(nonResourceRules, rules.nonResourceRules);
        incomplete ||= rules.incomplete;
        if (rules.evaluationError !== undefined) errors.push(rules.evaluationError);
      }
      const evaluationError = errors.length === 0 ? {} : { evaluationError: aggregateText(errors) };
      return { resourceRules, nonResourceRules, incomplete, ...evaluationError };
    },
  };
}

/** True when this answer decides; otherwise it is kept for the joined reasons. */
function settle(answer: AuthorizationResult, reasons: string[], errors: string[]): boolean {
  if (answer.decision !== 'no-opinion') return true;
  if (answer.reason !== '') reasons.push(answer.reason);
  if (answer.evaluationError !== undefined) errors.push(answer.evaluationError);
  return false;
}

const noOpinion = (reasons: readonly string[], errors: readonly string[]): AuthorizationResult => ({
  decision: 'no-opinion',
  reason: reasons.join('\n'),
  ...(errors.length === 0 ? {} : { evaluationError: aggregateText(errors) }),
});

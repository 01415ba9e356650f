import type { PolicyEngine, PolicySource } from '../compiled-policy.js';
import type { ExpressionChecker } from '../expression-check.js';
import type { ReviewConditionCompiler } from '../review-condition.js';
import { checkPolicyExpression } from './admission-policies.js';
import { type BaseOptions, baseEnvironments, withoutLibraryCosts } from './base.js';
import { deviceSelectorChecker } from './device-selectors.js';
import { compilePolicy } from './policy-programs.js';
import { reviewConditions } from './review-conditions.js';
import { ruleCompiler } from './schema-rules.js';

/** The gates without which Kubernetes' own functions cost one a call, whatever their arguments. */
const COST_GATES: Readonly<Partial<Record<PolicySource['owner'], string>>> = {
  'validating-policy': 'StrictCostEnforcementForVAP',
  webhook: 'StrictCostEnforcementForWebhooks',
};

/** Checks and compiles the expressions of the API's objects. Environments are made when the first one comes. */
export function kubernetesExpressions(
  options: BaseOptions,
): ExpressionChecker & PolicyEngine & ReviewConditionCompiler {
  const base = baseEnvironments(options);
  const lenient = withoutLibraryCosts(base);
  const isStrict = (owner: PolicySource['owner']): boolean => {
    const gate = COST_GATES[owner];
    return gate === undefined || options.features.enabled(gate);
  };
  const checkDeviceSelector = deviceSelectorChecker(base);
  let typesNamed = 0;
  let compileReviewCondition: ReturnType<typeof reviewConditions> | undefined;
  return {
    check: (expression, environment) =>
      environment.use === 'device-selector'
        ? checkDeviceSelector(expression, environment)
        : checkPolicyExpression(base, expression, environment),
    compilePolicy: (source) => compilePolicy(isStrict(source.owner) ? base : lenient, source),
    compileReviewCondition: (expression) =>
      (compileReviewCondition ??= reviewConditions(base, options.features))(expression),
    rulesOn: (type) => ruleCompiler(base, type, `selfType${++typesNamed}`),
  };
}

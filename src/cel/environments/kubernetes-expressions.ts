import type { ExpressionChecker } from '../expression-check.js';
import { checkPolicyExpression } from './admission-policies.js';
import { type BaseOptions, baseEnvironments } from './base.js';
import { checkDeviceSelector } from './device-selectors.js';
import { ruleCompiler } from './schema-rules.js';

/** Checks the expressions of the API's objects. Environments are made when the first expression comes. */
export function kubernetesExpressions(options: BaseOptions): ExpressionChecker {
  const base = baseEnvironments(options);
  let typesNamed = 0;
  return {
    check: (expression, environment) =>
      environment.use === 'device-selector'
        ? checkDeviceSelector(base, expression, environment)
        : checkPolicyExpression(base, expression, environment),
    rulesOn: (type) => ruleCompiler(base, type, `selfType${++typesNamed}`),
  };
}

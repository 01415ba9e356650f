import type { BaseOptions } from '../cel/environments/base.js';
import type { ExpressionChecker } from '../cel/expression-check.js';

type Engine = typeof import('../cel/environments/kubernetes-expressions.js');

/** Reads and prepares the engine when the first expression comes: a start without any does not pay for it. */
export function lazyExpressions(options: BaseOptions): ExpressionChecker {
  let made: ExpressionChecker | undefined;
  const engine = (): ExpressionChecker => (made ??= load().kubernetesExpressions(options));
  return {
    check: (expression, environment) => engine().check(expression, environment),
    rulesOn: (type) => engine().rulesOn(type),
  };
}

/** In the bundle a module that is required stands unread until then; an import() would have to be waited for. */
const load = (): Engine => require('../cel/environments/kubernetes-expressions.js') as Engine;

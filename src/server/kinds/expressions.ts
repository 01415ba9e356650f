import type { BaseOptions } from '../../cel/environments/base.js';
import type { PolicyEngine } from '../../cel/compiled-policy.js';
import type { ExpressionChecker } from '../../cel/expression-check.js';
import type { ReviewConditionCompiler } from '../../cel/review-condition.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';

export type Expressions = ExpressionChecker & PolicyEngine & ReviewConditionCompiler;

/** Called with how long it took, in seconds. */
export interface ExpressionTimes {
  compilation(seconds: number): void;
  evaluation(seconds: number): void;
}

type Engine = typeof import('../../cel/environments/kubernetes-expressions.js');

/** Reads and prepares the engine when the first expression comes: a start without any does not pay for it. */
export function lazyExpressions(options: BaseOptions, observe: ExpressionTimes): Expressions {
  let made: Expressions | undefined;
  const engine = (): Expressions => (made ??= prepared(options));
  return {
    check: (expression, environment) => engine().check(expression, environment),
    compilePolicy: (source) => engine().compilePolicy(source),
    compileReviewCondition: (expression) => engine().compileReviewCondition(expression),
    rulesOn(type) {
      const compile = engine().rulesOn(type);
      return (rule, stored) => {
        const startedMs = performance.now();
        const compiled = compile(rule, stored);
        observe.compilation((performance.now() - startedMs) / 1000);
        return compiled;
      };
    },
    evaluated: (seconds) => observe.evaluation(seconds),
  };
}

/** Only conditions of authorization webhooks, before there is a server: its configuration is checked first. */
export function lazyReviewConditions(options: BaseOptions): ReviewConditionCompiler {
  let made: ReviewConditionCompiler | undefined;
  return {
    compileReviewCondition: (expression) => (made ??= prepared(options)).compileReviewCondition(expression),
  };
}

/** Preparing takes a while, and who checks the configuration uses what the server will use. */
const preparedFor = new WeakMap<BaseOptions['features'], Expressions>();

function prepared(options: BaseOptions): Expressions {
  let expressions = preparedFor.get(options.features);
  if (expressions === undefined) {
    expressions = load().kubernetesExpressions(options);
    preparedFor.set(options.features, expressions);
  }
  return expressions;
}

/** In the bundle a module that is required stands unread until then; an import() would have to be waited for. */
const load = (): Engine => require('../../cel/environments/kubernetes-expressions.js') as Engine;

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export function expressionMetrics(registry: MetricRegistry): ExpressionTimes {
  const histogram = (name: string, help: string): ((seconds: number) => void) => {
    const series = registry.histogram({ name, help, labels: [], buckets: SECONDS, stability: 'BETA' }).with();
    return (seconds) => series.observe(seconds);
  };
  return {
    compilation: histogram('apiserver_cel_compilation_duration_seconds', 'How long compiling a rule took.'),
    evaluation: histogram('apiserver_cel_evaluation_duration_seconds', 'How long the rules of an object took.'),
  };
}

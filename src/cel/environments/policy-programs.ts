// The expressions of an admission policy as programs, and their evaluation within a budget.
//
// Objects come in their JSON form and have no types here, whatever the declarations of the request and the namespace say.
// Variables are worked out when they are first named, and once for each group of expressions.
import {
  type ExpressionResult,
  type GroupEvaluation,
  type ImmediatePolicy,
  type PolicyInput,
  type PolicySource,
} from '../compiled-policy.js';
import type { Evaluation, Program, Variables } from '../environment.js';
import type { ExpressionFault, PolicyEnvironment } from '../expression-check.js';
import { Interrupted } from '../interrupted.js';
import { fromJson } from '../json-value.js';
import { AuthorizerValue, requestResourceCheck } from '../kubernetes/authorizer.js';
import { CelError, CelMap, typeOf, type Value } from '../value.js';
import { compilePolicyExpression } from './admission-policies.js';
import type { BaseEnvironments } from './base.js';
import { mutationOf } from './made-mutation.js';

/** What one evaluation may cost; each variable is one of its own. */
const CALL_COST_LIMIT = 1_000_000;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

const NO_RESULT: ExpressionResult = { seconds: 0 };

interface Compiled {
  readonly expression: string;
  readonly program: Program | ExpressionFault;
}

export function compilePolicy(base: BaseEnvironments, source: PolicySource): ImmediatePolicy {
  const declared: { name: string; expression: string }[] = [];
  const compile = (use: PolicyEnvironment['use'], expression: string): Compiled => ({
    expression,
    program: compilePolicyExpression(base, expression, {
      use,
      params: source.params,
      authorizer: use !== 'message',
      composed: true,
      variables: declared,
      stored: true,
    }),
  });
  const variables = new Map<string, Compiled>();
  for (const variable of source.variables) {
    variables.set(variable.name, compile('variable', variable.expression));
    declared.push(variable);
  }
  const all = (use: PolicyEnvironment['use'], expressions: readonly string[]): readonly (Compiled | undefined)[] =>
    expressions.map((expression) => (expression === '' ? undefined : compile(use, expression)));
  const groups = {
    matchConditions: all('match-condition', source.matchConditions),
    validations: all('validation', source.validations),
    messages: all('message', source.messages),
    auditAnnotations: all('audit-annotation', source.auditAnnotations),
  };
  const mutations = (source.mutations ?? []).map(({ use, expression }) => compile(use, expression));
  return {
    evaluate: (group, input, costBudget, interrupted) =>
      evaluateGroup(groups[group], { variables, input, costBudget, interrupted }),
    mutate(index, input, costBudget, interrupted) {
      const compiled = mutations[index];
      if (compiled === undefined) return { kind: 'error', error: 'policy evaluator is nil' };
      if (!('evaluate' in compiled.program)) return { kind: 'error', error: faultOf(compiled) };
      const run = new GroupRun({ variables, input, costBudget, interrupted });
      const value = run.evaluate(compiled.program);
      if (value === undefined) return { kind: 'error', error: OUT_OF_BUDGET };
      if (value instanceof CelError) return { kind: 'error', error: errorOf(compiled.expression, value) };
      return mutationOf(value);
    },
  };
}

interface RunOptions {
  readonly variables: ReadonlyMap<string, Compiled>;
  readonly input: PolicyInput;
  readonly costBudget: number;
  readonly interrupted: (() => boolean) | undefined;
}

function evaluateGroup(expressions: readonly (Compiled | undefined)[], options: RunOptions): GroupEvaluation {
  if (expressions.every((each) => each === undefined)) {
    return { kind: 'done', results: expressions.map(() => NO_RESULT), remainingCost: options.costBudget };
  }
  const run = new GroupRun(options);
  const results: ExpressionResult[] = [];
  for (const compiled of expressions) {
    if (compiled === undefined || !('evaluate' in compiled.program)) {
      results.push(
        compiled === undefined ? NO_RESULT : { seconds: 0, error: `compilation error: ${faultOf(compiled)}` },
      );
      continue;
    }
    if (options.interrupted?.()) throw new Interrupted();
    const startedMs = performance.now();
    const value = run.evaluate(compiled.program);
    if (value === undefined) return { kind: 'out-of-budget', error: OUT_OF_BUDGET };
    results.push({ seconds: (performance.now() - startedMs) / 1000, ...outcome(compiled.expression, value) });
  }
  return { kind: 'done', results, remainingCost: run.remainingCost };
}

/** Expressions that share what they see, their variables and a budget. */
class GroupRun {
  remainingCost: number;
  private readonly variables: LazyVariables;
  private readonly seen: Variables;
  private readonly evaluation: Evaluations;

  constructor({ variables, input, costBudget, interrupted }: RunOptions) {
    this.remainingCost = costBudget;
    this.evaluation = new Evaluations(interrupted);
    this.variables = new LazyVariables(variables, this.evaluation);
    this.seen = visible(input, this.variables);
    this.variables.seen = this.seen;
  }

  /** Undefined when the budget is used up. */
  evaluate(program: Program): Value | undefined {
    const { value, cost } = this.evaluation.of(program, this.seen);
    this.remainingCost -= this.variables.takeCost() + cost;
    return this.remainingCost < 0 ? undefined : value;
  }
}

/** Each with the limit of one call, for as long as they are not to stop. */
class Evaluations {
  constructor(private readonly interrupted: (() => boolean) | undefined) {}

  of(program: Program, seen: Variables): Evaluation {
    const { interrupted } = this;
    const evaluation = program.evaluate(seen, { costLimit: CALL_COST_LIMIT, ...(interrupted && { interrupted }) });
    const { value } = evaluation;
    if (value instanceof CelError && value.cancelled === 'interrupted') throw new Interrupted();
    return evaluation;
  }
}

function outcome(expression: string, value: Value): Pick<ExpressionResult, 'error' | 'value'> {
  if (value instanceof CelError) return { error: errorOf(expression, value) };
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return { value };
  return { value: { type: typeOf(value).name } };
}

const errorOf = (expression: string, { message }: CelError): string =>
  `expression '${expression}' resulted in error: ${message}`;

const faultOf = ({ program }: Compiled): string => ('detail' in program ? program.detail : '');

function visible(input: PolicyInput, variables: CelMap): Variables {
  const { authorizer } = input;
  const seen = {
    object: fromJson(input.object),
    oldObject: fromJson(input.oldObject),
    request: fromJson(input.request),
    namespaceObject: fromJson(input.namespaceObject),
    params: fromJson(input.params),
    variables,
  };
  if (authorizer === undefined) return seen;
  const value = new AuthorizerValue(authorizer.user, authorizer.ask);
  return {
    ...seen,
    authorizer: value,
    'authorizer.requestResource': requestResourceCheck(value, authorizer.resource),
  };
}

/** `variables`: each is evaluated when it is first named, with a limit of its own; its cost is read afterwards. */
class LazyVariables extends CelMap {
  seen: Variables = {};
  private readonly known = new Map<string, Value>();
  private cost = 0;

  constructor(
    private readonly variables: ReadonlyMap<string, Compiled>,
    private readonly evaluation: Evaluations,
  ) {
    super();
  }
  get size(): number {
    return this.variables.size;
  }
  keys(): Iterable<Value> {
    return this.variables.keys();
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const compiled = this.variables.get(key);
    if (compiled === undefined) return undefined;
    const value = this.evaluate(key, compiled);
    this.known.set(key, value);
    return value;
  }
  takeCost(): number {
    const { cost } = this;
    this.cost = 0;
    return cost;
  }
  private evaluate(name: string, compiled: Compiled): Value {
    if (!('evaluate' in compiled.program)) {
      return new CelError(`composited variable "${name}" fails to compile: ${faultOf(compiled)}`);
    }
    const { value, cost } = this.evaluation.of(compiled.program, this.seen);
    this.cost += cost;
    if (!(value instanceof CelError)) return value;
    return new CelError(`composited variable "${name}" fails to evaluate: ${value.message}`);
  }
}

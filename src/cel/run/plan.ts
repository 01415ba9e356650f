// Checked expressions to closures. What is constant is computed here, once, and costs nothing afterwards.
import { attribute, conditional } from './attribute.js';
import type { Attribute, Qualifier } from './attribute.js';
import { callCost, dispatcher, pacedDispatcher, planComparison, planMany, planUnary, planZero } from './call.js';
import type { Call } from './call.js';
import { planComprehension } from './comprehension.js';
import { planList, planMap, planStruct } from './construct.js';
import { equalValues } from './equality.js';
import { Frame } from './frame.js';
import type { Evaluate } from './frame.js';
import { Locals } from './locals.js';
import { membership } from './membership.js';
import { compileRegex, matchesRegex } from './regex.js';
import type { Checked } from '../check/checker.js';
import type { Declarations } from '../check/declarations.js';
import type { CallExpr, Expr, IdentExpr, SelectExpr } from '../syntax/expression.js';
import { CelError, CelList, noSuchOverload, Optional } from '../value.js';
import type { Value } from '../value.js';
import type { Planner, Step } from './step.js';

/** Thrown while planning: a constant part fails. */
class Unplannable extends Error {
  constructor(readonly error: CelError) {
    super(error.message);
  }
}

export function plan(checked: Checked, declarations: Declarations): Evaluate | CelError {
  try {
    return new ExpressionPlanner(checked, declarations).step(checked.expression).evaluate;
  } catch (error) {
    if (error instanceof Unplannable) return error.error;
    throw error;
  }
}

// prettier-ignore
const CONVERSIONS: ReadonlySet<string> = new Set([
  'bool', 'bytes', 'double', 'duration', 'dyn', 'int', 'string', 'timestamp', 'type', 'uint',
]);

class ExpressionPlanner implements Planner {
  readonly locals = new Locals();

  constructor(
    private readonly checked: Checked,
    private readonly declarations: Declarations,
  ) {}

  step(e: Expr): Step {
    switch (e.kind) {
      case 'literal':
        return constant(e.value);
      case 'ident':
        return this.ident(e);
      case 'select':
        return this.select(e);
      case 'call':
        return this.call(e);
      case 'list':
        return folded(
          planList(
            e,
            e.elements.map((x) => this.step(x)),
          ),
        );
      case 'map':
        return folded(
          planMap(
            e,
            e.entries.map((n) => [this.step(n.key), this.step(n.value)] as const),
          ),
        );
      case 'struct':
        return planStruct(
          e,
          this.declarations.objectType(e.typeName),
          e.fields.map((f) => this.step(f.value)),
        );
      case 'comprehension':
        return { evaluate: planComprehension(e, this) };
      case 'unspecified':
        throw new Unplannable(new CelError('unsupported expr'));
    }
  }

  private ident({ id, name }: IdentExpr): Step {
    const type = this.checked.namedTypes.get(id);
    if (type !== undefined) return constant(type);
    return attributeStep(attribute(this.locals.reader(name) ?? variableReader(name)));
  }

  private select(e: SelectExpr): Step {
    const qualified = this.attributeOf(this.step(e.operand)).with({ optional: false, test: e.testOnly, key: e.field });
    if (!e.testOnly) return attributeStep(qualified);
    const cost = this.declarations.settings.presenceTestHasCost ? 1 : 0;
    return {
      attribute: qualified,
      evaluate: (frame) => {
        const present = qualified.resolve(frame);
        frame.charge(cost);
        return present instanceof Optional ? present.value !== undefined : present;
      },
    };
  }

  private attributeOf({ attribute: known, evaluate }: Step): Attribute {
    return known ?? attribute(evaluate);
  }

  private call(e: CallExpr): Step {
    const operands = (e.target === undefined ? e.args : [e.target, ...e.args]).map((a) => this.step(a));
    const [first, second, third] = operands;
    if (first !== undefined && second !== undefined) {
      switch (e.name) {
        case '_&&_':
          return { evaluate: planLogical(first.evaluate, second.evaluate, false) };
        case '_||_':
          return { evaluate: planLogical(first.evaluate, second.evaluate, true) };
        case '_==_':
          return { evaluate: this.planEquality(e, first.evaluate, second.evaluate, true) };
        case '_!=_':
          return { evaluate: this.planEquality(e, first.evaluate, second.evaluate, false) };
        case '_[_]':
          return attributeStep(this.attributeOf(first).with(indexQualifier(second, false)));
        case '_[?_]':
        case '_?._':
          return attributeStep(this.attributeOf(first).with(indexQualifier(second, true)));
        case '_?_:_':
          if (third === undefined) break;
          return attributeStep(conditional(first.evaluate, this.attributeOf(second), this.attributeOf(third)));
        default:
      }
    }
    if (e.name === '@not_strictly_false' && first !== undefined) {
      return { evaluate: planNotStrictlyFalse(first.evaluate) };
    }
    return this.functionCall(e, operands);
  }

  private functionCall(e: CallExpr, operands: readonly Step[]): Step {
    const call = this.resolvedCall(e);
    const [first, second] = operands;
    if (call.overload?.id.startsWith('optional_or') === true && first !== undefined && second !== undefined) {
      return { evaluate: planOptionalOr(call.overload.id, first.evaluate, second.evaluate) };
    }
    if (call.overload?.id === 'in_list' && first !== undefined && second?.constant?.value instanceof CelList) {
      const tests = membership(second.constant.value);
      if (tests !== undefined)
        return second.constant.value.size === 0 ? constant(false) : within(first.evaluate, tests);
    }
    const implementation = this.regexOrElse(call, second) ?? dispatcher(call, operands.length);
    if (CONVERSIONS.has(e.name) && operands.length === 1 && first?.constant !== undefined) {
      const value = implementation(first.constant.value);
      if (value instanceof CelError) throw new Unplannable(value);
      return constant(value);
    }
    const cost = callCost(call);
    const paced = pacedDispatcher(call, operands.length);
    if (first === undefined) return { evaluate: planZero(implementation, cost) };
    if (operands.length === 1 && paced === undefined)
      return { evaluate: planUnary(implementation, cost, first.evaluate) };
    if (operands.length === 2 && second !== undefined && call.declared.name !== 'matches') {
      const compare: typeof paced = paced ?? ((_frame, a, b) => implementation(a, b));
      return { evaluate: planComparison(compare, cost, first.evaluate, second.evaluate) };
    }
    return {
      evaluate: planMany(
        paced ?? ((_frame, ...values) => implementation(...values)),
        cost,
        operands.map((o) => o.evaluate),
      ),
    };
  }

  /** A constant regular expression is compiled now, so that a wrong one fails now. */
  private regexOrElse(call: Call, pattern: Step | undefined): ((...values: Value[]) => Value) | undefined {
    if (!PATTERNED.has(call.declared.name) || typeof pattern?.constant?.value !== 'string') return undefined;
    const regex = compileRegex(pattern.constant.value);
    if (regex instanceof CelError) throw new Unplannable(regex);
    if (call.declared.name !== 'matches') return undefined;
    return (text) => (typeof text === 'string' ? matchesRegex(regex, text) : noSuchOverload());
  }

  private resolvedCall(e: CallExpr): Call {
    const declared = this.declarations.function(e.name);
    if (declared === undefined) throw new Unplannable(new CelError(`no such overload: ${e.name}`));
    const overloads = this.checked.overloadsOf(e);
    return {
      declared,
      overload: overloads.length === 1 ? overloads[0] : undefined,
      member: e.target !== undefined,
      costs: this.declarations.options.costs,
    };
  }

  private planEquality(e: CallExpr, left: Evaluate, right: Evaluate, wanted: boolean): Evaluate {
    const cost = callCost(this.resolvedCall(e), wanted ? 'equals' : 'not_equals');
    const compare = (frame: Frame, a: Value, b: Value): Value => {
      const same = equalValues(a, b, frame);
      return wanted ? same : same !== true;
    };
    return planComparison(compare, cost, left, right);
  }
}

/** Functions whose first argument, after the receiver, is a regular expression. */
const PATTERNED = new Set(['matches', 'find', 'findAll']);

const constant = (value: Value): Step => ({ constant: { value }, evaluate: () => value });

function attributeStep(of: Attribute): Step {
  const { resolve } = of;
  if (!of.costsItself) return { attribute: of, evaluate: resolve };
  return {
    attribute: of,
    evaluate: (frame) => {
      const value = resolve(frame);
      frame.charge(1);
      return value;
    },
  };
}

/** Literals of constants are constants. */
function folded({ evaluate, constants }: { evaluate: Evaluate; constants: boolean }): Step {
  if (!constants) return { evaluate };
  const value = evaluate(new Frame({}, Infinity, undefined));
  return value instanceof CelError ? { evaluate } : constant(value);
}

function indexQualifier(index: Step, optional: boolean): Qualifier {
  const key = index.constant === undefined ? (index.attribute?.resolve ?? index.evaluate) : index.constant.value;
  return { optional, test: false, key };
}

function variableReader(name: string): Evaluate {
  const unknown = new CelError(`no such attribute(s): ${name}`);
  return ({ variables }) => {
    if (!Object.hasOwn(variables, name)) return unknown;
    const value = variables[name];
    if (typeof value === 'function') return value();
    return value === undefined ? unknown : value;
  };
}

/** && and ||: the deciding value wins over errors on the other side. */
function planLogical(left: Evaluate, right: Evaluate, deciding: boolean): Evaluate {
  return (frame) => {
    const a = left(frame);
    if (a === deciding) return a;
    const b = right(frame);
    if (b === deciding) return b;
    if (typeof a !== 'boolean') return a instanceof CelError ? a : noSuchOverload();
    if (typeof b !== 'boolean') return b instanceof CelError ? b : noSuchOverload();
    return !deciding;
  };
}

function planNotStrictlyFalse(argument: Evaluate): Evaluate {
  return (frame) => {
    const value = argument(frame);
    frame.charge(1);
    return typeof value === 'boolean' ? value : true;
  };
}

/** `or` and `orValue` look at their argument only when the optional is empty; they cost nothing themselves. */
function planOptionalOr(overload: string, left: Evaluate, right: Evaluate): Evaluate {
  const unwrap = overload === 'optional_orValue_value';
  return (frame) => {
    const optional = left(frame);
    if (!(optional instanceof Optional)) return optional;
    if (optional.value === undefined) return right(frame);
    return unwrap ? optional.value : optional;
  };
}

function within(argument: Evaluate, tests: (value: Value) => boolean): Step {
  return {
    evaluate: (frame) => {
      const value = argument(frame);
      return value instanceof CelError ? value : tests(value);
    },
  };
}

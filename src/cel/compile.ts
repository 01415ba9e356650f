// Environments and the way from text to program; see environment.ts.
import { check } from './check/checker.js';
import type { Checked } from './check/checker.js';
import { Declarations, LibraryDeclarations } from './check/declarations.js';
import { validate } from './check/validate.js';
import { estimateCost } from './cost/estimate.js';
import type {
  CheckedExpression,
  CompileIssues,
  Environment,
  EnvironmentOptions,
  Evaluation,
  Program,
  Variables,
} from './environment.js';
import { Cancelled, Frame } from './run/frame.js';
import type { Evaluate } from './run/frame.js';
import { plan } from './run/plan.js';
import { parse } from './syntax/parser.js';
import { CelError } from './value.js';

export function newEnvironment(options: EnvironmentOptions): Environment {
  return environmentOf(options, new LibraryDeclarations(options.libraries));
}

function environmentOf(options: EnvironmentOptions, libraries: LibraryDeclarations): Environment {
  const declarations = new Declarations(options, libraries);
  return {
    options,
    extend: (more) => {
      const extended: EnvironmentOptions = {
        ...options,
        ...more,
        variables: { ...options.variables, ...more.variables },
        libraries: [...options.libraries, ...(more.libraries ?? [])],
      };
      return environmentOf(
        extended,
        more.libraries === undefined ? libraries : new LibraryDeclarations(extended.libraries),
      );
    },
    compile: (expression) => compile(expression, declarations),
  };
}

function compile(text: string, declarations: Declarations): CheckedExpression | CompileIssues {
  const { optionalSyntax, escapedIdentifiers } = declarations.settings;
  const parsed = parse(text, { macros: declarations.libraries.macros, optionalSyntax, escapedIdentifiers });
  if (parsed.mistakes.any) return { issues: parsed.mistakes.toString() };
  const checked = check(parsed, declarations);
  if (!checked.mistakes.any) validate(checked, parsed, declarations);
  if (checked.mistakes.any) return { issues: checked.mistakes.toString() };
  return checkedExpression(checked, declarations);
}

function checkedExpression(checked: Checked, declarations: Declarations): CheckedExpression {
  return {
    issues: undefined,
    expression: checked.expression,
    type: checked.typeOf(checked.expression),
    mentions: checked.mentions,
    estimateCost: (costs = declarations.options.costs ?? {}) =>
      estimateCost(checked, costs, declarations.settings.presenceTestHasCost),
    plan: () => {
      const evaluate = plan(checked, declarations);
      return evaluate instanceof CelError ? evaluate : programOf(evaluate);
    },
  };
}

function programOf(evaluate: Evaluate): Program {
  return {
    evaluate: (variables: Variables, { costLimit = Infinity, interrupted } = {}): Evaluation => {
      const frame = new Frame(variables, costLimit, interrupted);
      try {
        const value = evaluate(frame);
        return { value, cost: frame.cost };
      } catch (error) {
        if (error instanceof Cancelled) return { value: error.error, cost: frame.cost };
        throw error;
      }
    },
  };
}

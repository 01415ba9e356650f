// For tests: expressions in an environment with all of the language's libraries, and results as one line of text.
import { newEnvironment } from './compile.js';
import type { CheckedExpression, EnvironmentOptions, EvaluateOptions, Variables } from './environment.js';
import { bindingsLibrary, twoVariableLibrary } from './libraries/comprehensions.js';
import { listsLibrary } from './libraries/lists.js';
import { optionalLibrary } from './libraries/optional.js';
import { setsLibrary } from './libraries/sets.js';
import { standardLibrary } from './libraries/standard.js';
import { stringsLibrary } from './libraries/strings.js';
import { plainText } from './run/format-value.js';
import { CelError, typeOf } from './value.js';

export const LANGUAGE = [
  standardLibrary,
  optionalLibrary,
  stringsLibrary,
  setsLibrary,
  listsLibrary,
  twoVariableLibrary,
  bindingsLibrary,
];

export type TestOptions = Partial<EnvironmentOptions> & EvaluateOptions & { readonly values?: Variables };

/** The checked expression; the test fails when it does not compile. */
export function compiled(expression: string, options: TestOptions = {}): CheckedExpression {
  const checked = newEnvironment({ libraries: LANGUAGE, ...options }).compile(expression);
  if (checked.issues !== undefined) throw new Error(checked.issues);
  return checked;
}

/** `int 3`, or `error: …` when evaluating fails, `plan: …` when planning does. */
export function result(expression: string, options: TestOptions = {}): string {
  const program = compiled(expression, options).plan();
  if (program instanceof CelError) return `plan: ${program.message}`;
  const { value } = program.evaluate(options.values ?? {}, options);
  return value instanceof CelError ? `error: ${value.message}` : `${typeOf(value).name} ${plainText(value)}`;
}

/** What evaluating cost. */
export function cost(expression: string, options: TestOptions = {}): number {
  const program = compiled(expression, options).plan();
  if (program instanceof CelError) throw new Error(program.message);
  return program.evaluate(options.values ?? {}, options).cost;
}

/** Why the expression does not compile; undefined when it does. */
export const issues = (expression: string, options: TestOptions = {}): string | undefined =>
  newEnvironment({ libraries: LANGUAGE, ...options }).compile(expression).issues;

/** The issues without the lines that show the text. */
export const messages = (expression: string, options: TestOptions = {}): readonly string[] =>
  (issues(expression, options) ?? '').split('\n').flatMap((line) => {
    const found = /^ERROR: <input>:(\S+): (.*)$/.exec(line);
    return found === null ? [] : [`${found[1]} ${found[2]}`];
  });

// Expressions of authentication: those on a token's claims see `claims`, those on the finished user see `user`.
import type { Environment, ObjectTypes, Program } from '../environment.js';
import type { ExpressionFault } from '../expression-check.js';
import type { Expr } from '../syntax/expression.js';
import { ANY, STRING, listType, mapType } from '../type.js';
import { CelError, CelList, CelMap, type Value } from '../value.js';
import { type BaseOptions, baseEnvironments } from './base.js';
import { unescapeFieldName } from './field-names.js';
import { objectDeclaration } from './object-types.js';

export type AuthenticationSubject = 'claims' | 'user';

export interface AuthenticationExpression {
  readonly text: string;
  /** `claims.field` stands somewhere in it. */
  selects(field: string): boolean;
  /** The result for these claims or this user, or the CelError it ended in. */
  evaluate(subject: Value): Value;
}

export interface AuthenticationCompiler {
  /** `returns`: what the expression must be known to result in; `any` leaves that to its evaluation. */
  compile(
    text: string,
    subject: AuthenticationSubject,
    returns: 'bool' | 'any',
  ): AuthenticationExpression | ExpressionFault;
}

export const isFault = (compiled: AuthenticationExpression | ExpressionFault): compiled is ExpressionFault =>
  'kind' in compiled;

const USER = 'kubernetes.UserInfo';
const USER_TYPE = objectDeclaration(
  USER,
  new Map([
    ['username', STRING],
    ['uid', STRING],
    ['groups', listType(STRING)],
    ['extra', mapType(STRING, listType(STRING))],
  ]),
);
const USER_TYPES: ObjectTypes = { find: (name) => (name === USER ? USER_TYPE : undefined) };

export function authenticationCompiler(options: BaseOptions): AuthenticationCompiler {
  const base = baseEnvironments(options).of(true);
  const environments: Readonly<Record<AuthenticationSubject, Environment>> = {
    claims: base.extend({ variables: { claims: mapType(STRING, ANY) } }),
    user: base.extend({ variables: { user: USER_TYPE.type }, objectTypes: USER_TYPES }),
  };
  return {
    compile(text, subject, returns) {
      const checked = environments[subject].compile(text);
      if (checked.issues !== undefined) return { kind: 'invalid', detail: `compilation failed: ${checked.issues}` };
      if (returns === 'bool' && checked.type.kind !== 'bool')
        return { kind: 'invalid', detail: 'must evaluate to bool' };
      const program = checked.plan();
      if (program instanceof CelError) {
        return { kind: 'internal', detail: `program instantiation failed: ${program.message}` };
      }
      return expressionOf(text, subject, program, checked.expression);
    },
  };
}

/** Nobody bounds what an expression of the administrator's costs, but a token must not hold all others up. */
const COST_LIMIT = 10_000_000;

const expressionOf = (
  text: string,
  subject: AuthenticationSubject,
  program: Program,
  expression: Expr,
): AuthenticationExpression => ({
  text,
  selects: (field) => selects(expression, subject, field),
  evaluate: (value) => program.evaluate({ [subject]: value }, { costLimit: COST_LIMIT }).value,
});

function selects(expression: Expr, variable: string, field: string): boolean {
  const within = (part: Expr | undefined): boolean => part !== undefined && selects(part, variable, field);
  const isVariable = (part: Expr | undefined): boolean => part?.kind === 'ident' && part.name === variable;
  switch (expression.kind) {
    case 'literal':
    case 'ident':
    case 'unspecified':
      return false;
    case 'select':
      return (isVariable(expression.operand) && expression.field === field) || within(expression.operand);
    case 'call': {
      const [operand, name] = expression.args;
      const optional = expression.target === undefined && expression.name === '_?._' && expression.args.length === 2;
      if (optional && isVariable(operand) && name?.kind === 'literal' && name.value === field) return true;
      return expression.args.some(within) || within(expression.target);
    }
    case 'list':
      return expression.elements.some(within);
    case 'map':
      return expression.entries.some(({ key, value }) => within(key) || within(value));
    case 'struct':
      return expression.fields.some(({ value }) => within(value));
    case 'comprehension': {
      const { range, init, condition, step, result } = expression;
      return [range, init, condition, step, result].some(within);
    }
  }
}

/**
 * JSON as these expressions see it: every number is a double, and a member whose name is no identifier is reached by
 * its escaped name (`claims.acme__dot__team`).
 */
export function authenticationValue(json: unknown): Value {
  switch (typeof json) {
    case 'string':
    case 'boolean':
    case 'number':
      return json;
    default:
  }
  if (json === null || json === undefined) return null;
  if (Array.isArray(json)) return new PlainList(json);
  if (typeof json !== 'object') return new CelError('invalid data');
  return new PlainMap(json as Readonly<Record<string, unknown>>);
}

class PlainList extends CelList {
  constructor(private readonly json: readonly unknown[]) {
    super();
  }
  get size(): number {
    return this.json.length;
  }
  at(index: number): Value {
    return authenticationValue(this.json[index]);
  }
}

class PlainMap extends CelMap {
  constructor(private readonly json: Readonly<Record<string, unknown>>) {
    super();
  }
  get size(): number {
    return Object.keys(this.json).length;
  }
  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const name = unescapeFieldName(key) ?? key;
    return Object.hasOwn(this.json, name) ? authenticationValue(this.json[name]) : undefined;
  }
  keys(): Iterable<Value> {
    return Object.keys(this.json);
  }
}

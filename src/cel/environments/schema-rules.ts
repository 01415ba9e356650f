// Rules of custom resources: expressions on a node of a schema. They see the value at that node as `self`, and where an
// update can correlate the old value, that as `oldSelf`.
import type { CheckedExpression, Environment, Program } from '../environment.js';
import { optionalType } from '../type.js';
import { CelError } from '../value.js';
import type { BaseEnvironments } from './base.js';
import type { DeclaredType } from './declared-type.js';
import { type NamedTypes, nameTypes } from './object-types.js';
import type { SchemaRule } from './rule-schema.js';
import { costsWithin } from './size-estimates.js';

export interface CompiledExpression {
  /** Why it cannot be used. */
  readonly fault?: string;
  /** Absent with a fault. */
  readonly program?: Program;
  /** What one evaluation costs at most. */
  readonly cost: number;
}

export interface CompiledRule extends CompiledExpression {
  readonly usesOldSelf: boolean;
  readonly message?: CompiledExpression;
}

/** Which of a rule's expressions were stored before: those may use what a newer server knew. */
export interface StoredParts {
  readonly rule: boolean;
  readonly message: boolean;
}

/** Compiles the rules of one node. */
export type CompileRule = (rule: SchemaRule, stored: StoredParts) => CompiledRule;

/** `typeName` names the type of `self`; nobody is to write it, so it is another one each time. */
export function ruleCompiler(base: BaseEnvironments, type: DeclaredType, typeName: string): CompileRule {
  const named = nameTypes(type, typeName);
  const costs = costsWithin(type);
  const known = new Map<string, Environment>();
  const environmentFor = (stored: boolean, optionalOldSelf: boolean): Environment => {
    const key = `${stored} ${optionalOldSelf}`;
    let environment = known.get(key);
    if (environment === undefined) {
      environment = base
        .of(stored)
        .extend({ variables: variablesOf(named, optionalOldSelf), objectTypes: named.types, costs });
      known.set(key, environment);
    }
    return environment;
  };
  return (rule, stored) =>
    compileRule(rule, (isStored) => environmentFor(isStored, rule.optionalOldSelf === true), stored);
}

const variablesOf = ({ root }: NamedTypes, optionalOldSelf: boolean) => ({
  self: root,
  oldSelf: optionalOldSelf ? optionalType(root) : root,
});

function compileRule(
  rule: SchemaRule,
  environment: (stored: boolean) => Environment,
  stored: StoredParts,
): CompiledRule {
  if (rule.rule.trim() === '') return { cost: 0, usesOldSelf: false };
  const checked = environment(stored.rule).compile(rule.rule);
  if (checked.issues !== undefined) return faulty(`compilation failed: ${checked.issues}`, false);
  if (checked.type.kind !== 'bool') return faulty('cel expression must evaluate to a bool', false);
  const usesOldSelf = checked.mentions.has('oldSelf');
  const planned = plan(checked, '');
  if (planned.fault !== undefined || !rule.messageExpression) return { ...planned, usesOldSelf };
  return { ...planned, usesOldSelf, message: compileMessage(rule.messageExpression, environment(stored.message)) };
}

const faulty = (fault: string, usesOldSelf: boolean): CompiledRule => ({ fault, cost: 0, usesOldSelf });

function compileMessage(expression: string, environment: Environment): CompiledExpression {
  const checked = environment.compile(expression);
  if (checked.issues !== undefined)
    return { fault: `messageExpression compilation failed: ${checked.issues}`, cost: 0 };
  if (checked.type.kind !== 'string') return { fault: 'messageExpression must evaluate to a string', cost: 0 };
  return plan(checked, 'messageExpression ');
}

function plan(checked: CheckedExpression, what: string): CompiledExpression {
  const program = checked.plan();
  if (program instanceof CelError) {
    const failed = what === '' ? 'program instantiation failed' : `${what}instantiation failed`;
    return { fault: `${failed}: ${program.message}`, cost: 0 };
  }
  return { program, cost: checked.estimateCost().max };
}

// Does an object keep the rules (`x-kubernetes-validations`) of its schema?
import { RULE_COST_LIMIT, withObjectMeta } from '../../../cel/environments/rule-schema.js';
import { schemaValue } from '../../../cel/environments/schema-value.js';
import type { Evaluation, Program, Variables } from '../../../cel/environment.js';
import { Interrupted } from '../../../cel/interrupted.js';
import { CelError, Optional, type Value } from '../../../cel/value.js';
import { goQuote } from '../../../lib/go/quote.js';
import { isPlainObject } from '../../../lib/values/plain-object.js';
import {
  type FieldError,
  type FieldErrors,
  FieldPath,
  duplicate,
  fieldErrorText,
  forbidden,
  invalid,
  required,
} from '../../../machinery/field-error.js';
import type { ValidationRule } from '../../../schema/generated/apiextensions.v1.js';
import { Correlation, KeyedItems } from './correlation.js';
import type { NodeRule, RuleNode } from './rule-tree.js';

/** What all rules of one object may cost together. */
export const OBJECT_COST_BUDGET = 10_000_000;
const MAX_MESSAGE_BYTES = 5 * 1024;
const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';

export interface RuleCheck {
  readonly value: unknown;
  /** The value before; undefined when there was none. */
  readonly old: unknown;
  readonly path: FieldPath | undefined;
  readonly budget: number;
  /** Polled between steps: Interrupted is thrown when it answers true. */
  readonly interrupted?: (() => boolean) | undefined;
  /** Set where errors about what did not change become warnings. */
  readonly ratchet?: { readonly warn: (text: string) => void };
}

export interface RuleOutcome {
  readonly errors: FieldErrors;
  /** Negative once no rule may run any more. */
  readonly remaining: number;
}

export function validateRules(tree: RuleNode, check: RuleCheck): RuleOutcome {
  const { value, old, path, budget, ratchet, interrupted } = check;
  const run = new RuleRun(budget, ratchet?.warn, interrupted);
  const current = ratchet === undefined ? undefined : new Correlation(value, old, tree.schema);
  run.visit(tree, { value, old, path, current, parent: undefined });
  return { errors: run.errors, remaining: run.remaining };
}

interface Place {
  readonly value: unknown;
  readonly old: unknown;
  readonly path: FieldPath | undefined;
  /** What is known of the value's past; undefined where nothing is. */
  readonly current: Correlation | undefined;
  /** The nearest value around it of which something is known. */
  readonly parent: Correlation | undefined;
}

class RuleRun {
  readonly errors: FieldErrors = [];

  constructor(
    public remaining: number,
    private readonly warn: ((text: string) => void) | undefined,
    private readonly interrupted: (() => boolean) | undefined,
  ) {}

  visit(node: RuleNode, place: Place): void {
    if (place.value === null || place.value === undefined) return;
    this.runRules(node, place);
    for (const one of node.allOf) {
      if (this.remaining < 0) return;
      this.visit(one, { ...place, current: undefined });
    }
    if (Array.isArray(place.value)) this.visitItems(node, place, place.value);
    else if (isPlainObject(place.value)) this.visitMembers(node, place, place.value);
  }

  private visitItems({ items, schema }: RuleNode, place: Place, values: readonly unknown[]): void {
    if (items === undefined) return;
    const before = new KeyedItems(schema, place.old);
    for (const [i, value] of values.entries()) {
      if (this.remaining < 0) return;
      const past =
        place.current === undefined ? pastOf(place) : { current: place.current.item(i), parent: place.current };
      this.visit(items, { value, old: before.find(value), path: place.path?.index(i), ...past });
    }
  }

  private visitMembers(node: RuleNode, place: Place, members: Readonly<Record<string, unknown>>): void {
    const old = isPlainObject(place.old) ? place.old : {};
    const visit = (name: string, inner: RuleNode, path: FieldPath | undefined): void => {
      if (this.remaining < 0 || !Object.hasOwn(members, name)) return;
      const before = Object.hasOwn(old, name) ? old[name] : undefined;
      this.visit(inner, { value: members[name], old: before, path, ...pastOfMember(place, name) });
    };
    const { additional } = node;
    if (additional !== undefined)
      for (const name of Object.keys(members)) visit(name, additional, place.path?.key(name));
    for (const [name, inner] of node.properties) visit(name, inner, childPath(place.path, name));
  }

  private runRules(node: RuleNode, place: Place): void {
    const type = node.schema.type ?? '';
    if (node.untyped) {
      const why = 'failed to convert to declType for CEL validation rules';
      this.errors.push(invalid(place.path, type, `rule compiler initialization error: ${why}`));
      return;
    }
    if (node.rules.length === 0) return;
    if (this.remaining <= 0) {
      this.stop(invalid(place.path, type, OUT_OF_BUDGET));
      return;
    }
    const schema = node.isResource ? withObjectMeta(node.schema) : node.schema;
    const self = schemaValue(place.value, schema);
    const hasOld = place.old !== undefined && place.old !== null;
    const oldSelf =
      hasOld && node.rules.some(({ compiled }) => compiled.usesOldSelf) ? schemaValue(place.old, schema) : undefined;
    for (const rule of node.rules) {
      if (rule.compiled.usesOldSelf && !hasOld && rule.rule.optionalOldSelf !== true) continue;
      this.runRule(rule, { self, ...(oldSelf !== undefined && { oldSelf }) }, type, place);
      if (this.remaining < 0) return;
    }
  }

  private runRule(node: NodeRule, variables: RuleVariables, type: string, place: Place): void {
    const { rule, compiled } = node;
    if (compiled.fault !== undefined) {
      this.errors.push(invalid(place.path, type, `rule compile error: ${compiled.fault}`));
      return;
    }
    if (compiled.program === undefined) return;
    const seen = rule.optionalOldSelf === true ? withOptionalOldSelf(variables) : { ...variables };
    const { value, cost } = this.evaluate(compiled.program, seen);
    if (cost > this.remaining) {
      this.stop(invalid(place.path, type, OUT_OF_BUDGET));
      return;
    }
    this.remaining -= cost;
    if (value instanceof CelError) this.reportFailure(value, rule, type, place);
    else if (value !== true) this.reportBroken(node, variables, type, place);
  }

  /** The rule itself failed. */
  private reportFailure(error: CelError, rule: ValidationRule, type: string, { path }: Place): void {
    const text = ruleText(rule);
    if (error.message.startsWith('no such overload')) {
      const why = `'${error.message}': call arguments did not match a supported operator, function or macro signature for rule: ${text}`;
      this.errors.push(invalid(path, type, why));
    } else if (error.cancelled === 'cost-limit') {
      const why = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${text}`;
      this.stop(invalid(path, type, why));
    } else this.errors.push(invalid(path, type, `${error.message} evaluating rule: ${text}`));
  }

  /** The rule said no. */
  private reportBroken(
    { rule, compiled, errorPath }: NodeRule,
    variables: RuleVariables,
    type: string,
    place: Place,
  ): void {
    const path = errorPath === '' ? place.path : childPath(place.path, errorPath);
    const forgiven = !compiled.usesOldSelf && (place.current ?? place.parent)?.isUnchanged() === true;
    const report = (error: FieldError): void => {
      if (forgiven) this.warn?.(fieldErrorText(error));
      else this.errors.push(error);
    };
    const stated = rule.message ? rule.message.trim() : `failed rule: ${ruleText(rule)}`;
    const program = compiled.message?.program;
    if (program === undefined) {
      report(withReason(path, type, stated, rule.reason));
      return;
    }
    // kube-apiserver shows message expressions the old value itself, also where they are compiled for an optional.
    const message = this.evaluateMessage(program, rule.messageExpression ?? '', variables);
    if ('fatal' in message) {
      report(invalid(path, type, message.fatal));
      this.remaining = -1;
      return;
    }
    report(withReason(path, type, message.text ?? stated, rule.reason));
    this.remaining -= message.cost;
  }

  /** No text where the expression gives none that can be shown. */
  private evaluateMessage(
    program: Program,
    expression: string,
    variables: RuleVariables,
  ): { readonly fatal: string } | { readonly text: string | undefined; readonly cost: number } {
    const { value, cost } = this.evaluate(program, { ...variables });
    if (cost > this.remaining) {
      const why = 'messageExpression evaluation failed due to running out of cost budget';
      return { fatal: `${why}, no further validation rules will be run` };
    }
    if (value instanceof CelError && value.cancelled === 'cost-limit') {
      const why = 'no further validation rules will be run due to call cost exceeds limit for messageExpression';
      return { fatal: `${why}: ${goQuote(expression)}` };
    }
    const text = typeof value === 'string' ? value.trim() : '';
    const fits = text !== '' && Buffer.byteLength(text) <= MAX_MESSAGE_BYTES && !text.includes('\n');
    return { text: fits ? text : undefined, cost };
  }

  private evaluate(program: Program, seen: Variables): Evaluation {
    const { interrupted } = this;
    if (interrupted?.()) throw new Interrupted();
    const evaluation = program.evaluate(seen, { costLimit: RULE_COST_LIMIT, ...(interrupted && { interrupted }) });
    const { value } = evaluation;
    if (value instanceof CelError && value.cancelled === 'interrupted') throw new Interrupted();
    return evaluation;
  }

  private stop(error: FieldError): void {
    this.errors.push(error);
    this.remaining = -1;
  }
}

interface RuleVariables {
  readonly self: Value;
  /** Absent where there was no value. */
  readonly oldSelf?: Value;
}

const withOptionalOldSelf = ({ self, oldSelf }: RuleVariables): Variables => ({
  self,
  oldSelf: oldSelf === undefined ? Optional.none : Optional.of(oldSelf),
});

const pastOf = ({ current, parent }: Place): Pick<Place, 'current' | 'parent'> => ({ current, parent });

function pastOfMember(place: Place, name: string): Pick<Place, 'current' | 'parent'> {
  const { current, parent } = place;
  if (current === undefined) return pastOf(place);
  // Both objects are read in one version, so a change of these cannot be seen.
  if (parent === undefined && (name === 'apiVersion' || name === 'kind'))
    return { current: undefined, parent: undefined };
  return { current: current.member(name), parent: current };
}

const childPath = (path: FieldPath | undefined, name: string): FieldPath => path?.child(name) ?? FieldPath.of(name);

const ruleText = ({ rule, message }: ValidationRule): string => (message ? message : rule).trim();

function withReason(path: FieldPath | undefined, type: string, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, type);
    default:
      return invalid(path, type, detail);
  }
}

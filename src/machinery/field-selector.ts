// Field selectors: `?fieldSelector=status.phase!=Running,spec.nodeName=n1`.
import { compareText } from '../lib/text/compare-text.js';
import { sortSteps } from '../lib/scheduling/sort-steps.js';
import { runSync, eachStep, type StepGenerator } from '../lib/scheduling/yield.js';
import { HeldSelectors } from './held-selectors.js';
import { SelectorError } from './label-requirement.js';

export interface FieldRequirement {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly value: string;
}

export interface HasFields {
  /** Empty for a field that is not there. */
  field(name: string): string;
}

/** All requirements hold at once; none at all selects everything. */
export class FieldSelector {
  /** Of many requirements, compiled on first use: what they say together about each field. */
  #byField: ReadonlyMap<string, Demand> | undefined;

  constructor(readonly requirements: readonly FieldRequirement[]) {}

  static readonly everything = new FieldSelector([]);

  get empty(): boolean {
    return this.requirements.length === 0;
  }

  /** A field the object does not have counts as empty. */
  // hot: once for each object of a filtered list and each event of a filtered watch.
  matches(object: HasFields): boolean {
    if (this.requirements.length > FEW)
      return areMet((this.#byField ??= runSync(demandSteps(this.requirements))), object);
    for (const { field, operator, value } of this.requirements) {
      if ((object.field(field) === value) !== (operator === '=')) return false;
    }
    return true;
  }

  /** Works out beforehand what many requirements say together. */
  *join(): StepGenerator<void> {
    if (this.requirements.length > FEW) this.#byField ??= yield* demandSteps(this.requirements);
  }

  /** The value a field must have, when the selector says one. */
  requiresExactMatch(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value;
  }

  /** Renames fields and values; a requirement that becomes empty in both is dropped. `change` may throw to refuse. */
  transform(change: (field: string, value: string) => readonly [field: string, value: string]): FieldSelector {
    const requirements: FieldRequirement[] = [];
    for (const { field, operator, value } of this.requirements) {
      const [newField, newValue] = change(field, value);
      if (newField !== '' || newValue !== '') requirements.push({ field: newField, operator, value: newValue });
    }
    return new FieldSelector(requirements);
  }

  toString(): string {
    return this.requirements.map(({ field, operator, value }) => field + operator + escapeFieldValue(value)).join(',');
  }
}

/** So many are compared one by one sooner than they are looked up. */
const FEW = 16;

interface Demand {
  /** Two of them are met by nothing. */
  readonly equal: Set<string>;
  readonly different: Set<string>;
}

function* demandSteps(requirements: readonly FieldRequirement[]): StepGenerator<ReadonlyMap<string, Demand>> {
  const byField = new Map<string, Demand>();
  yield* eachStep(requirements, ({ field, operator, value }) => {
    let demand = byField.get(field);
    if (demand === undefined) byField.set(field, (demand = { equal: new Set(), different: new Set() }));
    (operator === '=' ? demand.equal : demand.different).add(value);
  });
  return byField;
}

function areMet(byField: ReadonlyMap<string, Demand>, object: HasFields): boolean {
  for (const [field, { equal, different }] of byField) {
    const value = object.field(field);
    if (different.has(value) || equal.size > 1 || (equal.size === 1 && !equal.has(value))) return false;
  }
  return true;
}

/** Throws SelectorError. */
export const parseFieldSelector = (text: string): FieldSelector =>
  fieldSelectors.find(text) ?? runSync(fieldSelectorSteps(text));

/** parseFieldSelector() in steps, for long texts. */
export function* fieldSelectorSteps(text: string): StepGenerator<FieldSelector> {
  const requirements: FieldRequirement[] = [];
  const terms = yield* sortSteps(yield* termSteps(text), compareText);
  yield* eachStep(terms, (term) => {
    if (term === '') return;
    const operator = /!=|==|=/.exec(term);
    if (operator === null) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
    const field = term.slice(0, operator.index);
    const value = unescapeFieldValue(term.slice(operator.index + operator[0].length));
    // A condition on nothing holds always.
    if (field === '' && value === '') return;
    requirements.push({ field, operator: operator[0] === '!=' ? '!=' : '=', value });
  });
  return requirements.length === 0 ? FieldSelector.everything : new FieldSelector(requirements);
}

/** Of requests under way. */
export const fieldSelectors = new HeldSelectors(function* (text): StepGenerator<FieldSelector> {
  const selector = yield* fieldSelectorSteps(text);
  yield* selector.join();
  return selector;
});

const escapeFieldValue = (value: string): string => value.replace(/[\\,=]/g, '\\$&');

/** So many are cut out in a few milliseconds. */
const MANY = 2048;

/** Splits at commas that no backslash protects; the backslashes stay. */
function* termSteps(text: string): StepGenerator<string[]> {
  const terms: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(start, at));
      start = at + 1;
      if (terms.length % MANY === 0) yield;
    }
  }
  terms.push(text.slice(start));
  return terms;
}

function unescapeFieldValue(text: string): string {
  let value = '';
  let escaped = false;
  for (const char of text) {
    const special = char === '\\' || char === ',' || char === '=';
    if (escaped) {
      if (!special) throw new SelectorError(`invalid field selector: invalid escape sequence: \\${char}`);
      value += char;
      escaped = false;
    } else if (char === '\\') {
      escaped = true;
    } else if (special) {
      // kube-apiserver shows the character's number here.
      throw new SelectorError(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`);
    } else {
      value += char;
    }
  }
  if (escaped) throw new SelectorError('invalid field selector: invalid escape sequence: \\');
  return value;
}

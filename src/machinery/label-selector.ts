// Label selectors: all conditions on the labels of an object, from the object form in specs or from text.
import { ownMember } from '../lib/values/plain-object.js';
import { sortSteps } from '../lib/scheduling/sort-steps.js';
import { runSync, type StepGenerator } from '../lib/scheduling/yield.js';
import { goQuote } from '../lib/go/quote.js';
import {
  type LabelOperator,
  type LabelRequirement,
  type Labels,
  newRequirement,
  requirementMatches,
  requirementText,
  SelectorError,
} from './label-requirement.js';
import { requirementSteps } from './label-selector-text.js';
import { HeldSelectors } from './held-selectors.js';
import { areMany, joinedSteps } from './compiled-selector.js';

/** The `LabelSelector` of the API, as it stands in specs. */
export interface LabelSelectorObject {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?:
    | readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] | null }[]
    | null;
}

/** All requirements hold at once; none at all selects everything. Requirements are in the order of their keys. */
export class LabelSelector {
  readonly #isLong: boolean;
  /** Of a long selector, compiled on first use. */
  #joined: ((labels: Labels | null | undefined) => boolean) | undefined;

  private constructor(
    readonly requirements: readonly LabelRequirement[],
    /** False for the selector that selects nothing, whatever the labels. */
    readonly selectable: boolean,
  ) {
    this.#isLong = areMany(requirements);
  }

  static readonly everything = new LabelSelector([], true);
  static readonly nothing = new LabelSelector([], false);

  static of(requirements: readonly LabelRequirement[]): LabelSelector {
    return runSync(LabelSelector.steps([...requirements]));
  }

  /** A selector made in steps, of many requirements; the list is used up. */
  static *steps(requirements: LabelRequirement[]): StepGenerator<LabelSelector> {
    if (requirements.length === 0) return LabelSelector.everything;
    return new LabelSelector(yield* sortSteps(requirements, byKey), true);
  }

  /** Equality on each label, without checking their syntax. */
  static fromLabels(labels: Labels | null | undefined): LabelSelector {
    const pairs = Object.entries(labels ?? {});
    return LabelSelector.of(pairs.map(([key, value]) => ({ key, operator: '=', values: [value] })));
  }

  get empty(): boolean {
    return this.selectable && this.requirements.length === 0;
  }

  // hot: once for each object of a filtered list and each event of a filtered watch.
  matches(labels: Labels | null | undefined): boolean {
    if (!this.selectable) return false;
    if (this.#isLong) return (this.#joined ??= runSync(joinedSteps(this.requirements)))(labels);
    for (const requirement of this.requirements) {
      if (!requirementMatches(requirement, labels)) return false;
    }
    return true;
  }

  /** Works out beforehand what many requirements say together. */
  *join(): StepGenerator<void> {
    if (this.#isLong) this.#joined ??= yield* joinedSteps(this.requirements);
  }

  /** The value a label must have, when the selector says exactly one. */
  requiresExactMatch(key: string): string | undefined {
    const requirement = this.requirements.find((candidate) => candidate.key === key);
    if (requirement === undefined || requirement.values.length !== 1) return undefined;
    return ['=', '==', 'in'].includes(requirement.operator) ? requirement.values[0] : undefined;
  }

  toString(): string {
    return this.requirements.map(requirementText).join(',');
  }
}

/** Throws SelectorError. */
export function parseLabelSelector(text: string): LabelSelector {
  return labelSelectors.find(text) ?? runSync(labelSelectorSteps(text));
}

/** parseLabelSelector() in steps, for long texts. */
export function* labelSelectorSteps(text: string): StepGenerator<LabelSelector> {
  return yield* LabelSelector.steps(yield* requirementSteps(text));
}

/** Of requests under way. */
export const labelSelectors = new HeldSelectors(function* (text): StepGenerator<LabelSelector> {
  const selector = yield* labelSelectorSteps(text);
  yield* selector.join();
  return selector;
});

/** No selector at all selects nothing, an empty one everything. Throws SelectorError. */
export function labelSelectorAsSelector(selector: LabelSelectorObject | null | undefined): LabelSelector {
  if (selector === undefined || selector === null) return LabelSelector.nothing;
  const requirements: LabelRequirement[] = [];
  for (const [key, value] of Object.entries(selector.matchLabels ?? {})) {
    requirements.push(newRequirement(key, '=', [value]));
  }
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = ownMember(EXPRESSION_OPERATORS, operator);
    if (known === undefined) throw new SelectorError(`${goQuote(operator)} is not a valid label selector operator`);
    requirements.push(newRequirement(key, known, values ?? []));
  }
  return LabelSelector.of(requirements);
}

const EXPRESSION_OPERATORS: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
};

const byKey = (a: LabelRequirement, b: LabelRequirement): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

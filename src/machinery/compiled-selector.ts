// Selectors of many requirements, or of many values. A query may have a hundred thousand, and they are matched against each
// object of a list and each event of a watch: what they say together of each label is worked out once.
import { eachStep, type StepGenerator } from '../lib/scheduling/yield.js';
import { type LabelRequirement, type Labels, parseInt64 } from './label-requirement.js';

/** So many are compared one by one sooner than they are looked up. */
const FEW = 16;

export function areMany(requirements: readonly LabelRequirement[]): boolean {
  let count = 0;
  for (const { values } of requirements) {
    count += 1 + values.length;
    if (count > FEW) return true;
  }
  return false;
}

/** Whether labels meet all of the requirements. */
export function* joinedSteps(
  requirements: readonly LabelRequirement[],
): StepGenerator<(labels: Labels | null | undefined) => boolean> {
  const byKey = new Map<string, Demand>();
  yield* eachStep(requirements, (requirement) => {
    let demand = byKey.get(requirement.key);
    if (demand === undefined) byKey.set(requirement.key, (demand = new Demand()));
    demand.add(requirement);
  });
  let needed = 0;
  for (const { isNeeded } of byKey.values()) if (isNeeded) needed++;
  return (labels) => {
    let found = 0;
    for (const key of Object.keys(labels ?? {})) {
      const demand = byKey.get(key);
      if (demand === undefined) continue;
      if (!demand.isMetBy((labels as Labels)[key] as string)) return false;
      if (demand.isNeeded) found++;
    }
    return found === needed;
  };
}

/** All requirements on one label. */
class Demand {
  isNeeded = false;
  #isForbidden = false;
  #among: Set<string> | undefined;
  readonly #notAmong = new Set<string>();
  #above: bigint | undefined;
  #below: bigint | undefined;

  add({ operator, values }: LabelRequirement): void {
    if (operator === '!') this.#isForbidden = true;
    else if (operator === '!=' || operator === 'notin') for (const value of values) this.#notAmong.add(value);
    else {
      this.isNeeded = true;
      if (operator === 'gt' || operator === 'lt') this.#bound(operator, parseInt64(values[0] ?? ''));
      else if (operator !== 'exists') this.#only(values);
    }
  }

  #only(values: readonly string[]): void {
    const before = this.#among;
    this.#among = new Set(before === undefined ? values : values.filter((value) => before.has(value)));
  }

  /** What is no number bounds everything. */
  #bound(operator: 'gt' | 'lt', by: bigint | undefined): void {
    if (by === undefined) this.#among = new Set();
    else if (operator === 'gt') this.#above = this.#above === undefined || by > this.#above ? by : this.#above;
    else this.#below = this.#below === undefined || by < this.#below ? by : this.#below;
  }

  isMetBy(value: string): boolean {
    if (this.#isForbidden || this.#notAmong.has(value) || this.#among?.has(value) === false) return false;
    if (this.#above === undefined && this.#below === undefined) return true;
    const number = parseInt64(value);
    if (number === undefined) return false;
    return (this.#above === undefined || number > this.#above) && (this.#below === undefined || number < this.#below);
  }
}

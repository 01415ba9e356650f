import type { CompiledPolicy, PolicyInput } from '../../cel/compiled-policy.js';
import { aggregateText } from '../../machinery/field-error.js';

const MATCH_COST_BUDGET = 2_500_000;

export interface ConditionsOptions {
  readonly compiled: CompiledPolicy;
  /** With the resource as it was requested: match conditions do not see under which name it was matched. */
  readonly matchInput: () => PolicyInput;
  readonly observeMatch?: (seconds: number, errors: number) => void;
}

/** A condition that is false decides, whatever errors the others have. Conditions that all hold are not observed. */
export async function conditionsHold({
  compiled,
  matchInput,
  observeMatch,
}: ConditionsOptions): Promise<boolean | { readonly error: string }> {
  const startedMs = performance.now();
  const evaluated = await compiled.evaluate('matchConditions', matchInput(), MATCH_COST_BUDGET);
  const seconds = (performance.now() - startedMs) / 1000;
  if (evaluated.kind !== 'done') {
    observeMatch?.(seconds, 0);
    return { error: evaluated.error };
  }
  const errors: string[] = [];
  for (const { value, error } of evaluated.results) {
    if (error !== undefined) errors.push(error);
    if (value !== false) continue;
    observeMatch?.(seconds, errors.length);
    return false;
  }
  if (errors.length === 0) return true;
  observeMatch?.(seconds, errors.length);
  return { error: aggregateText(errors) };
}

// What becomes of a pod here, where no container runs: an annotation says so.
import type { Pod } from '../../schema/generated/core.v1.js';
import { controllerOf } from '../owned-objects.js';

export const OUTCOME_ANNOTATION = 'testing.binnacle/outcome';

/**
 * run: runs and is ready. unready: runs and is not ready. succeed, fail: its containers exit with 0 or 1. pending: it is
 * not started.
 */
const OUTCOMES = ['run', 'unready', 'succeed', 'fail', 'pending'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** How a pod that is deleted ends: a server by itself, anything else by the signal. */
export type Ending = Exclude<Outcome, 'pending'> | 'terminate';

/** Pods of jobs succeed, all others run, where nothing or nonsense is said. */
export function outcomeOf(pod: Readonly<Pod>): Outcome {
  const wanted = pod.metadata.annotations?.[OUTCOME_ANNOTATION];
  const known = OUTCOMES.find((outcome) => outcome === wanted);
  return known ?? (controllerOf(pod)?.kind === 'Job' ? 'succeed' : 'run');
}

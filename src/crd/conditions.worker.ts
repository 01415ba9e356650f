// What is told of a large definition is found out on a worker thread: its schemas are looked through from end to end.
import { isLargerThan, schemasOf } from '../apis/apiextensions/schema-walk.js';
import { type WorkerPool, withInlineFallback, task } from '../lib/async/worker-pool.js';
import { bufferOf } from '../lib/values/buffer-of.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import { definitionFrom, definitionJson } from './definition-json.js';
import { type ComputedConditions, computeConditions } from './compute-conditions.js';

export const COMPUTE_CONDITIONS = task<{ readonly definition: Uint8Array }, { readonly told: ComputedConditions }>(
  'tell',
);

/** About as many has a part of a schema when it is printed. */
const PART_BYTES = 25;

export async function conditionsOf(
  workers: WorkerPool | undefined,
  definition: Readonly<CustomResourceDefinition>,
): Promise<ComputedConditions> {
  const most = (workers?.minBytes ?? 0) / PART_BYTES;
  if (workers === undefined || !schemasOf(definition.spec).some((schema) => isLargerThan(schema, most))) {
    return computeConditions(definition);
  }
  const telling = workers.run(COMPUTE_CONDITIONS, { definition: await definitionJson(definition) });
  const { told } = await withInlineFallback(telling, () => ({ told: computeConditions(definition) }));
  return told;
}

/** The worker's side. */
export const runComputeConditions = ({
  definition,
}: {
  readonly definition: Uint8Array;
}): { readonly told: ComputedConditions } => ({
  told: computeConditions(definitionFrom(bufferOf(definition))),
});

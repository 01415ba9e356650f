// The conditions of a large CRD are computed on a worker: its schemas are walked from end to end.
import { isLargerThan, schemasOf } from '../apis/apiextensions/schema-walk.js';
import { offload, task, type WorkerPool } from '../lib/async/worker-pool.js';
import { bufferOf } from '../lib/values/buffer-of.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import { crdFrom, crdJson } from './crd-json.js';
import { type ComputedConditions, computeConditions } from './compute-conditions.js';

export const COMPUTE_CONDITIONS = task<{ readonly crd: Uint8Array }, { readonly conditions: ComputedConditions }>(
  'computeConditions',
);

/** About as many bytes has a part of a schema when it is encoded. */
const PART_BYTES = 25;

export async function conditionsOf(
  workers: WorkerPool | undefined,
  crd: Readonly<CustomResourceDefinition>,
): Promise<ComputedConditions> {
  const most = (workers?.minBytes ?? 0) / PART_BYTES;
  const isLarge = schemasOf(crd.spec).some((schema) => isLargerThan(schema, most));
  const { conditions } = await offload(
    isLarge ? workers : undefined,
    async (pool) => pool.run(COMPUTE_CONDITIONS, { crd: await crdJson(crd) }),
    () => ({ conditions: computeConditions(crd) }),
  );
  return conditions;
}

/** The worker's side. */
export const runComputeConditions = ({
  crd,
}: {
  readonly crd: Uint8Array;
}): { readonly conditions: ComputedConditions } => ({
  conditions: computeConditions(crdFrom(bufferOf(crd))),
});

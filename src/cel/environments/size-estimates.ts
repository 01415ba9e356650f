// How large what an expression reaches through a variable can be, from the bounds of the variable's type.
import type { CostModel, Estimate } from '../library.js';
import { PRICED_FUNCTIONS, callCost } from '../kubernetes/call-cost.js';
import { estimateCall } from '../kubernetes/call-estimate.js';

/** A type as far as sizes go. Declared types have this shape. */
export interface SizedType {
  /** Elements, members, characters. */
  readonly maxElements: number;
  /** What lies in a list or under the keys of a map. */
  readonly element?: SizedType;
  /** Only maps have keys. */
  readonly keyLength?: number;
  readonly fields?: ReadonlyMap<string, SizedType>;
  /** Members of a map that are selected by name, as if they were fields. */
  readonly member?: SizedType;
}

/** The costs of Kubernetes' functions, with no knowledge of sizes. */
export const KUBERNETES_COSTS: CostModel = { pricedFunctions: PRICED_FUNCTIONS, callCost, estimateCall };

/** Every variable counts as this type: there is one, or another that holds the same before an update. */
export const costsWithin = (root: SizedType): CostModel => ({
  ...KUBERNETES_COSTS,
  estimateSize: ({ path }) => (path.length === 0 ? undefined : sizeAt(root, path.slice(1))),
});

function sizeAt(root: SizedType, path: readonly string[]): Estimate | undefined {
  let type: SizedType | undefined = root;
  for (const step of path) {
    type = below(type, step);
    if (type === undefined) return undefined;
  }
  return { min: 0, max: type.maxElements };
}

function below(type: SizedType, step: string): SizedType | undefined {
  switch (step) {
    case '@items':
    case '@values':
      return type.element;
    case '@keys':
      return type.keyLength === undefined ? undefined : { maxElements: type.keyLength };
    default:
      return type.fields?.get(step) ?? type.member;
  }
}

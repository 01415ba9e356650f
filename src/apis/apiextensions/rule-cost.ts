// What the rules of a definition may cost, estimated from their schema.
import { type FieldErrors, type FieldPath, forbidden } from '../../machinery/field-error.js';

/** For one rule on all the values it may run on, and for one evaluation of a message. */
export const EXPRESSION_COST_LIMIT = 10_000_000;
/** For all rules of a schema. */
const SCHEMA_COST_LIMIT = 100_000_000;
/** Of the rules that made a schema too costly, the first few are reported, if they weigh a hundredth of the limit. */
const MAX_REPORTED = 4;

export class TotalCost {
  private total = 0;
  /** Rules that were wrong. */
  faults = 0;
  private costly: { readonly path: FieldPath; readonly cost: number }[] = [];

  add(path: FieldPath, cost: number): void {
    this.total += cost;
    if (cost < SCHEMA_COST_LIMIT / 100) return;
    this.costly.push({ path, cost });
    this.costly = this.costly.toSorted((a, b) => b.cost - a.cost).slice(0, MAX_REPORTED);
  }

  /** `path` is the schema's. */
  errors(path: FieldPath): FieldErrors {
    if (this.total <= SCHEMA_COST_LIMIT) return [];
    const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.costly.map((rule) => forbidden(rule.path, contributed)),
      forbidden(path, tooCostly(what, this.total, SCHEMA_COST_LIMIT)),
    ];
  }
}

export function tooCostly(what: string, cost: number, limit: number): string {
  const factor = cost / limit;
  // Close to the limit, one digit would say that nothing is exceeded; far from it, the number says nothing more.
  const shown = factor > 100 ? 'more than 100' : factor.toFixed(factor < 1.5 ? 6 : 1);
  const advice =
    'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';
  return `${what} exceeds budget by factor of ${shown}x (${advice})`;
}

// What checking a rule needs to know of where its node stands in the schema: the type of its values, how many of them
// an object can have, and whether an update can correlate their old values.
import { type DeclaredType, declaredType } from '../../cel/environments/declared-type.js';
import { escapeFieldName } from '../../cel/environments/field-names.js';
import type { FieldPath } from '../../machinery/field-error.js';
import { TotalCost } from './rule-cost.js';
import { type Schema, additionalOf, itemsOf } from './schema-walk.js';

export type FoundType = { readonly type: DeclaredType | undefined } | { readonly error: string };

/** The way from a node to one below it. */
export type Step = { readonly property: string } | 'items' | 'additional';

/** Where a node stands. */
interface Surroundings {
  /** The node above, and the way from it; undefined at the root. */
  readonly above: { readonly context: RuleContext; readonly step: Step } | undefined;
  /** The most values an object can have here; undefined where nothing bounds them. */
  readonly cardinality: number | undefined;
  /** What all rules of the schema cost. */
  readonly total: TotalCost;
  /** The outermost list or map around it whose values have no past. */
  readonly uncorrelated: FieldPath | undefined;
}

export class RuleContext {
  private found: FoundType | undefined;

  private constructor(
    private readonly schema: Schema,
    private readonly surroundings: Surroundings,
  ) {}

  static root(schema: Schema): RuleContext {
    const total = new TotalCost();
    return new RuleContext(schema, { above: undefined, cardinality: 1, total, uncorrelated: undefined });
  }

  /** The most values an object can have here; undefined where nothing bounds them. */
  get cardinality(): number | undefined {
    return this.surroundings.cardinality;
  }

  get total(): TotalCost {
    return this.surroundings.total;
  }

  /** The outermost list or map around it whose values have no past. */
  get uncorrelated(): FieldPath | undefined {
    return this.surroundings.uncorrelated;
  }

  /** `path` is this node's own. */
  child(schema: Schema, step: Step, path: FieldPath): RuleContext {
    const factor = elementsOf(this.schema);
    const cardinality = this.cardinality === undefined || factor === undefined ? undefined : this.cardinality * factor;
    const uncorrelated = this.uncorrelated ?? (losesPast(this.schema, step) ? path : undefined);
    const above = { context: this, step };
    return new RuleContext(schema, { above, cardinality, total: this.total, uncorrelated });
  }

  type(): FoundType {
    this.found ??= this.typeFromAbove() ?? this.typeOfSchema();
    return this.found;
  }

  /** Rules on or above the node. */
  private hasRules(): boolean {
    const own = (this.schema['x-kubernetes-validations']?.length ?? 0) > 0;
    return own || this.surroundings.above?.context.hasRules() === true;
  }

  /** A node that was typed as part of one above, for the rules there, has that type. */
  private typeFromAbove(): FoundType | undefined {
    const { above } = this.surroundings;
    if (above === undefined || !above.context.hasRules()) return undefined;
    const { context, step } = above;
    const outer = context.type();
    if ('error' in outer) return outer;
    if (outer.type === undefined) return undefined;
    if (typeof step === 'object') {
      const escaped = escapeFieldName(step.property);
      const type = escaped !== undefined && outer.type.kind === 'object' ? outer.type.fields.get(escaped) : undefined;
      return type && { type };
    }
    const inner = step === 'items' ? itemsOf(context.schema) : additionalOf(context.schema);
    return inner && { type: 'element' in outer.type ? outer.type.element : undefined };
  }

  private typeOfSchema(): FoundType {
    const isResource = this.surroundings.above === undefined || this.schema['x-kubernetes-embedded-resource'] === true;
    const type = declaredType(this.schema, isResource);
    return type === undefined ? { error: 'unable to convert structural schema to CEL declarations' } : { type };
  }
}

/** Whether an update cannot correlate the old value one step below: in lists without keys, and unknown maps. */
function losesPast(schema: Schema, step: Step): boolean {
  if (step === 'items') return schema['x-kubernetes-list-type'] !== 'map';
  if (step === 'additional') return false;
  return !['granular', 'atomic'].includes(schema['x-kubernetes-map-type'] ?? 'granular');
}

/** By how much a schema multiplies the values below it; undefined when by any number. */
function elementsOf(schema: Schema): number | undefined {
  if (schema.type === 'array') return limit(schema.maxItems);
  if (schema.type !== 'object' || schema.additionalProperties === undefined) return 1;
  return limit(schema.maxProperties);
}

const limit = (stated: number | bigint | undefined): number | undefined =>
  stated === undefined ? undefined : Math.max(0, Number(stated));

// Conditions that follow from a CRD's schemas and change nothing about how it is served.
import { append } from '../lib/values/append.js';
import { structuralMistake, validateStructural } from '../apis/apiextensions/structural-schema.js';
import { aggregateText, type FieldErrors, FieldPath, fieldErrorText, invalid } from '../machinery/field-error.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';

type Crd = Readonly<CustomResourceDefinition>;

export type ComputedConditions = Readonly<Record<string, Condition | undefined>>;

/** Each by its type; undefined where it does not hold and goes when it was there. */
export const computeConditions = (crd: Crd): ComputedConditions => ({
  NonStructuralSchema: structuralCondition(crd),
});

/** CRDs from before schemas had to be structural may go on without. */
function structuralCondition({ spec }: Crd): Condition | undefined {
  const type = 'NonStructuralSchema';
  const errors: FieldErrors = [];
  if (spec.preserveUnknownFields) {
    errors.push(invalid(FieldPath.of('spec', 'preserveUnknownFields'), true, 'must be false'));
  }
  for (const [i, { name, schema }] of (spec.versions ?? []).entries()) {
    if (schema?.openAPIV3Schema === undefined) continue;
    const mistake = structuralMistake(schema.openAPIV3Schema);
    if (mistake !== undefined) {
      const message = `failed to check validation schema for version ${name}: ${mistake}`;
      return { type, status: 'Unknown', reason: 'StructuralError', message };
    }
    const path = FieldPath.of('spec', 'versions').index(i).child('schema', 'openAPIV3Schema');
    append(errors, validateStructural(schema.openAPIV3Schema, path));
  }
  if (errors.length === 0) return undefined;
  return { type, status: 'True', reason: 'Violations', message: aggregateText(errors.map(fieldErrorText)) };
}

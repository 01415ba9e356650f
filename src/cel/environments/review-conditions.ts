// Conditions of authorization webhooks. They see the spec of a SubjectAccessReview as `request`.
import type { ObjectTypeDeclaration, ObjectTypes } from '../environment.js';
import type { ExpressionFault } from '../expression-check.js';
import { fromJson } from '../json-value.js';
import type { ReviewCondition } from '../review-condition.js';
import { type CelType, STRING, listType, mapType, objectType } from '../type.js';
import { CelError } from '../value.js';
import type { BaseEnvironments, BaseOptions } from './base.js';
import { objectDeclaration } from './object-types.js';
import { KUBERNETES_COSTS } from './size-estimates.js';
import { typeName } from './type-name.js';

/** What one evaluation may cost. */
const CALL_COST_LIMIT = 1_000_000;

const REQUEST = objectType('kubernetes.SubjectAccessReviewSpec');
const RESOURCE = objectType('kubernetes.ResourceAttributes');
const NON_RESOURCE = objectType('kubernetes.NonResourceAttributes');
const FIELD_SELECTOR = objectType('kubernetes.FieldSelectorAttributes');
const LABEL_SELECTOR = objectType('kubernetes.LabelSelectorAttributes');
const REQUIREMENT = objectType('kubernetes.SelectorRequirement');

const TEXTS = listType(STRING);
const SELECTOR = { rawSelector: STRING, requirements: listType(REQUIREMENT) };
const DECLARED: readonly (readonly [type: CelType, fields: Readonly<Record<string, CelType>>])[] = [
  [
    REQUEST,
    {
      resourceAttributes: RESOURCE,
      nonResourceAttributes: NON_RESOURCE,
      user: STRING,
      groups: TEXTS,
      extra: mapType(STRING, TEXTS),
      uid: STRING,
    },
  ],
  [NON_RESOURCE, { path: STRING, verb: STRING }],
  [FIELD_SELECTOR, SELECTOR],
  [LABEL_SELECTOR, SELECTOR],
  [REQUIREMENT, { key: STRING, operator: STRING, values: TEXTS }],
];
const ATTRIBUTES = {
  namespace: STRING,
  verb: STRING,
  group: STRING,
  version: STRING,
  resource: STRING,
  subresource: STRING,
  name: STRING,
};
const SELECTORS = { fieldSelector: FIELD_SELECTOR, labelSelector: LABEL_SELECTOR };

export function reviewConditions(
  base: BaseEnvironments,
  features: BaseOptions['features'],
): (expression: string) => ReviewCondition | ExpressionFault {
  const attributes = features.enabled('AuthorizeWithSelectors') ? { ...ATTRIBUTES, ...SELECTORS } : ATTRIBUTES;
  const declarations = new Map<string, ObjectTypeDeclaration>(
    [...DECLARED, [RESOURCE, attributes] as const].map(([{ name }, fields]) => [
      name,
      objectDeclaration(name, new Map(Object.entries(fields))),
    ]),
  );
  const types: ObjectTypes = { find: (name) => declarations.get(name) };
  const environment = base
    .of(true)
    .extend({ variables: { request: REQUEST }, objectTypes: types, costs: KUBERNETES_COSTS });
  return (expression) => {
    const checked = environment.compile(expression);
    if (checked.issues !== undefined) return { kind: 'invalid', detail: `compilation failed: ${checked.issues}` };
    if (checked.type.kind !== 'bool') {
      return { kind: 'invalid', detail: `must evaluate to bool but got ${typeName(checked.type)}` };
    }
    const program = checked.plan();
    if (program instanceof CelError) {
      return { kind: 'internal', detail: `program instantiation failed: ${program.message}` };
    }
    return {
      expression,
      evaluate(request) {
        const { value } = program.evaluate({ request: fromJson(request) }, { costLimit: CALL_COST_LIMIT });
        if (typeof value === 'boolean') return { holds: value };
        const why = value instanceof CelError ? value.message : 'no such overload';
        return { error: `cel evaluation error: expression '${expression}' resulted in error: ${why}` };
      },
    };
  };
}

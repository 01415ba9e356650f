import { append } from '../../lib/values/append.js';
import { type FieldErrors, FieldPath, invalid, notSupported, named } from '../../machinery/field-error.js';
import { validateConditions } from '../../machinery/validation/conditions.js';
import { invalidEach, validateNonNegative } from '../../machinery/validation/fields.js';
import { validateLabelSelector } from '../../machinery/validation/label-selector.js';
import { isValidPercent } from '../../machinery/validation/names.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import type { PodDisruptionBudget } from '../../schema/generated/policy.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';

const SPEC = FieldPath.of('spec');
const EVICTION_POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

export const podDisruptionBudgets: KindDefinition<PodDisruptionBudget> = {
  group: 'policy',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  singular: 'poddisruptionbudget',
  shortNames: ['pdb'],
  namespaced: true,
  versions: [{ version: 'v1', defaults: dropFormerLabel }],
  storageVersion: 'v1',
  storage: { fromFormer: selectNoPods },
  strategy: {
    metadataRules: {
      // No rule of this kind looks at its name: only what every path segment needs holds.
      validateName: () => [],
      anyFinalizer: true,
      placedOnUpdate: true,
      checkedLast: true,
    },
    hasStatus: true,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object) => {
      object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
    },
    validate: (object) => validateBudget(object, false),
    validateUpdate: (object, old) => validateBudget(object, hasInvalidSelector(old)),
    status: { metadataRules: { placedOnUpdate: true }, validateUpdate: validateBudgetStatus },
    resetFields: { '': [['status']], status: [['spec']] },
  },
  subresources: { status: { kind: 'PodDisruptionBudget', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Min Available', 'How many pods must stay available.'),
      column('Max Unavailable', 'How many pods may be unavailable.'),
      { name: 'Allowed Disruptions', type: 'integer', description: 'How many pods may be disrupted now.' },
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      String(object.spec.minAvailable ?? 'N/A'),
      String(object.spec.maxUnavailable ?? 'N/A'),
      object.status.disruptionsAllowed,
      ageCell(object, now),
    ],
  },
};

/** What an older version said "no pods" by: alone it still means that, beside anything else it is not heard. */
const FORMER_LABEL = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';

/** In policy/v1beta1 an empty selector selects no pods. */
function selectNoPods({ spec }: PodDisruptionBudget): void {
  const { matchLabels = {}, matchExpressions = [] } = spec.selector ?? {};
  if (spec.selector === undefined || Object.keys(matchLabels).length + matchExpressions.length > 0) return;
  spec.selector = { matchExpressions: [{ key: FORMER_LABEL, operator: 'Exists' }] };
}

function dropFormerLabel({ spec: { selector } }: PodDisruptionBudget): void {
  const expressions = selector?.matchExpressions ?? [];
  if (selector === undefined || !expressions.some(({ key }) => key === FORMER_LABEL)) return;
  const [{ operator, values = [] } = { operator: '' }] = expressions;
  const isAlone = expressions.length === 1 && Object.keys(selector.matchLabels ?? {}).length === 0;
  if (isAlone && operator === 'Exists' && values.length === 0) return;
  const kept = expressions.filter(({ key }) => key !== FORMER_LABEL);
  if (kept.length > 0) selector.matchExpressions = kept;
  else delete selector.matchExpressions;
}

function validateBudget({ spec }: Readonly<PodDisruptionBudget>, allowInvalidLabelValue: boolean): FieldErrors {
  const { minAvailable, maxUnavailable, unhealthyPodEvictionPolicy } = spec;
  const errors: FieldErrors = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = internalValue('PodDisruptionBudgetSpec', spec);
    errors.push(invalid(SPEC, shown, 'minAvailable and maxUnavailable cannot be both set'));
  }
  append(
    errors,
    validateCountOrPercent(minAvailable, SPEC.child('minAvailable')),
    validateCountOrPercent(maxUnavailable, SPEC.child('maxUnavailable')),
    validateLabelSelector(spec.selector, { allowInvalidLabelValue }, SPEC.child('selector')),
  );
  if (unhealthyPodEvictionPolicy !== undefined && !EVICTION_POLICIES.includes(unhealthyPodEvictionPolicy)) {
    const path = SPEC.child('unhealthyPodEvictionPolicy');
    errors.push(notSupported(path, unhealthyPodEvictionPolicy, EVICTION_POLICIES));
  }
  return errors;
}

function validateCountOrPercent(value: string | number | undefined, path: FieldPath): FieldErrors {
  if (value === undefined) return [];
  if (typeof value === 'number') return validateNonNegative(value, path);
  const messages = isValidPercent(value);
  if (messages.length > 0) return invalidEach(path, named(value), messages);
  return Number.parseInt(value, 10) > 100 ? [invalid(path, value, 'must not be greater than 100%')] : [];
}

const hasInvalidSelector = ({ spec }: Readonly<PodDisruptionBudget>): boolean =>
  validateLabelSelector(spec.selector, {}, SPEC).length > 0;

function validateBudgetStatus({ status }: Readonly<PodDisruptionBudget>): FieldErrors {
  const path = FieldPath.of('status');
  const counts = ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const;
  return [
    ...validateConditions(status.conditions, path.child('conditions')),
    ...counts.flatMap((member) => validateNonNegative(status[member], path.child(member))),
  ];
}

import type { ExpressionChecker } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath } from '../../machinery/field-error.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN, sinceCell } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { DeviceTaintRule } from '../../schema/generated/resource.v1alpha3.js';
import { stampTaint } from './defaults.js';
import { validateSelectors } from './device-rules.js';
import { validateDriverName, validateLabelText, validatePoolName, validateSubdomain } from './name-rules.js';
import { validateTaint } from './taint-validation.js';
import { RESOURCE_GROUP } from './versions.js';

const SPEC = FieldPath.of('spec');

export function deviceTaintRuleKind(expressions: ExpressionChecker | undefined): KindDefinition<DeviceTaintRule> {
  return {
    group: RESOURCE_GROUP,
    kind: 'DeviceTaintRule',
    plural: 'devicetaintrules',
    singular: 'devicetaintrule',
    namespaced: false,
    versions: [{ version: 'v1alpha3', enabledByDefault: false }],
    storageVersion: 'v1alpha3',
    strategy: {
      hasGeneration: true,
      prepareForCreate: ({ spec }, context) => stampTaint(spec.taint, context.now()),
      prepareForUpdate: ({ spec }, _old, context) => stampTaint(spec.taint, context.now()),
      validate: (object, { features }) => validateRule(object, undefined, { expressions, features }),
      validateUpdate: (object, old, { features }) => validateRule(object, old, { expressions, features }),
      delete: { returnsObject: true },
    },
    table: {
      columns: [
        NAME_COLUMN,
        column('Key', 'The key of the taint.'),
        column('Value', 'The value of the taint.'),
        column('Effect', 'What the taint does.'),
        column('TimeAdded', 'The time since the taint was put on.'),
        AGE_COLUMN,
      ],
      row: ({ metadata, spec }, now) => [
        metadata.name ?? '',
        spec.taint.key,
        spec.taint.value ?? '',
        spec.taint.effect,
        spec.taint.timeAdded === undefined ? '' : sinceCell(spec.taint.timeAdded, now),
        ageCell({ metadata }, now),
      ],
    },
  };
}

function validateRule(
  { spec }: Readonly<DeviceTaintRule>,
  old: Readonly<DeviceTaintRule> | undefined,
  rules: { readonly expressions: ExpressionChecker | undefined; readonly features: FeatureGates },
): FieldErrors {
  const selector = spec.deviceSelector ?? {};
  const path = SPEC.child('deviceSelector');
  const before = old?.spec.deviceSelector;
  const stored = before !== undefined && deepEqual(selector.selectors, before.selectors);
  const named = (member: keyof typeof NAME_RULES): FieldErrors => {
    const name = selector[member];
    return name === undefined ? [] : NAME_RULES[member](name, path.child(member));
  };
  return [
    ...named('deviceClassName'),
    ...named('driver'),
    ...named('pool'),
    ...named('device'),
    ...validateSelectors(selector.selectors, path.child('selectors'), { ...rules, stored }),
    ...validateTaint(spec.taint, SPEC.child('taint')),
  ];
}

const NAME_RULES = {
  deviceClassName: validateSubdomain,
  driver: validateDriverName,
  pool: validatePoolName,
  device: validateLabelText,
} as const;

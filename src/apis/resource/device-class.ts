import { append } from '../../lib/values/append.js';
import { type ExpressionChecker, EXPRESSIONS_WEIGHT } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, invalid } from '../../machinery/field-error.js';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { DeviceClass } from '../../schema/generated/resource.v1.js';
import { isExtendedResource } from '../core/pod/validation/resource-names.js';
import { MAX_CONFIGURATIONS } from './claim-validation.js';
import { validateList } from './collection-rules.js';
import { validateConfiguration } from './configuration-validation.js';
import { validateSelectors } from './device-rules.js';
import { RESOURCE_GROUP, resourceVersions, STORAGE_VERSION } from './versions.js';

const SPEC = FieldPath.of('spec');

export function deviceClassKind(expressions: ExpressionChecker | undefined): KindDefinition<DeviceClass> {
  const validate = (object: Readonly<DeviceClass>, features: FeatureGates, old?: Readonly<DeviceClass>) =>
    validateDeviceClass(object, old, { expressions, features });
  return {
    group: RESOURCE_GROUP,
    kind: 'DeviceClass',
    plural: 'deviceclasses',
    singular: 'deviceclass',
    namespaced: false,
    versions: resourceVersions({}),
    storageVersion: STORAGE_VERSION,
    strategy: {
      cost: { rulesWeight: EXPRESSIONS_WEIGHT },
      metadataRules: { placedOnUpdate: true },
      prepareForCreate: (object, { features }) => {
        object.metadata.generation = 1;
        dropDisabledFields(object, undefined, features);
      },
      prepareForUpdate: (object, old, { features }) => {
        dropDisabledFields(object, old, features);
        // Counted here and not by the registry, which would count fields that are dropped.
        if (!deepEqual(object.spec, old.spec)) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
      },
      validate: (object, { features }) => validate(object, features),
      validateUpdate: (object, old, { features }, { whole, change }) => [
        ...whole,
        ...validate(object, features),
        ...change,
        ...validate(object, features, old),
      ],
      delete: { returnsObject: true },
    },
    table: {
      columns: [NAME_COLUMN, AGE_COLUMN],
      row: (object, now) => [object.metadata.name ?? '', ageCell(object, now)],
    },
  };
}

function dropDisabledFields(
  { spec }: DeviceClass,
  old: Readonly<DeviceClass> | undefined,
  features: FeatureGates,
): void {
  if (features.enabled('DRAExtendedResource') || old?.spec.extendedResourceName !== undefined) return;
  delete spec.extendedResourceName;
}

/** Expressions and parameters that stayed as they were are judged as stored ones. */
function validateDeviceClass(
  { spec }: Readonly<DeviceClass>,
  old: Readonly<DeviceClass> | undefined,
  rules: { readonly expressions: ExpressionChecker | undefined; readonly features: FeatureGates },
): FieldErrors {
  const stays = (member: 'selectors' | 'config'): boolean =>
    old !== undefined && deepEqual(spec[member], old.spec[member]);
  const errors = validateSelectors(spec.selectors, SPEC.child('selectors'), { ...rules, stored: stays('selectors') });
  const stored = stays('config');
  append(
    errors,
    validateList(
      spec.config,
      SPEC.child('config'),
      (config, at) => validateConfiguration(config, at, stored),
      MAX_CONFIGURATIONS,
    ),
  );
  const name = spec.extendedResourceName;
  if (name !== undefined && !isExtendedResource(name)) {
    errors.push(invalid(SPEC.child('extendedResourceName'), name, 'must be a valid extended resource name'));
  }
  return errors;
}

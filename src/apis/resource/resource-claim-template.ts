import { type ExpressionChecker, EXPRESSIONS_WEIGHT } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { FieldPath, invalid } from '../../machinery/field-error.js';
import { IMMUTABLE } from '../../machinery/validation/fields.js';
import { AGE_COLUMN, ageCell, NAME_COLUMN } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { ResourceClaimTemplate } from '../../schema/generated/resource.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { validateTemplateMeta } from '../template-meta.js';
import { AdminAccessVerdicts, adminRequest } from './admin-access.js';
import { validateDeviceClaim } from './claim-validation.js';
import { defaultClaim } from './defaults.js';
import { dropSpecFields, specUsesAdminAccess, specUsesCapacity } from './drop-claim-fields.js';
import { claimFromOld, claimToOld, defaultOldClaim } from './v1beta1-conversion.js';
import { RESOURCE_GROUP, resourceVersions, STORAGE_VERSION } from './versions.js';

const SPEC = FieldPath.of('spec');

export function resourceClaimTemplateKind(
  expressions: ExpressionChecker | undefined,
): KindDefinition<ResourceClaimTemplate> {
  const verdicts = new AdminAccessVerdicts();
  const validateSpec = ({ spec }: Readonly<ResourceClaimTemplate>, features: FeatureGates, stored: boolean) => [
    ...validateTemplateMeta(spec.metadata, SPEC.child('metadata')),
    ...validateDeviceClaim(spec.spec.devices, SPEC.child('spec', 'devices'), { expressions, features, stored }),
  ];
  return {
    group: RESOURCE_GROUP,
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
    singular: 'resourceclaimtemplate',
    namespaced: true,
    versions: resourceVersions<ResourceClaimTemplate>({
      defaults: ({ spec }) => defaultClaim(spec.spec.devices),
      v1beta1: {
        defaults: ({ spec }) => defaultOldClaim(spec.spec.devices),
        toStorage: (object) => withDevices(object, claimFromOld(object.spec.spec.devices)),
        fromStorage: (object) => withDevices(object, claimToOld(object.spec.spec.devices)),
      },
    }),
    storageVersion: STORAGE_VERSION,
    strategy: {
      transaction: {
        findings: verdicts,
        beginCreate: async (object, context) => {
          if (context.features.enabled('DRAAdminAccess')) {
            await verdicts.judge(object, adminRequest(object.spec.spec.devices.requests), context);
          }
          return undefined;
        },
      },
      cost: { rulesWeight: EXPRESSIONS_WEIGHT },
      metadataRules: { placedOnUpdate: true },
      prepareForCreate: (object, { features }) => dropDisabledFields(object, undefined, features),
      prepareForUpdate: (object, old, { features }) => dropDisabledFields(object, old, features),
      validate: (object, { features }) => [...verdicts.errors(object), ...validateSpec(object, features, false)],
      validateUpdate: (object, old, { features }, { whole, change }) => [
        ...whole,
        ...validateSpec(object, features, false),
        ...change,
        ...(deepEqual(object.spec, old.spec)
          ? []
          : [invalid(SPEC, internalValue('ResourceClaimTemplateSpec', object.spec), IMMUTABLE)]),
        ...validateSpec(object, features, true),
      ],
      delete: { returnsObject: true },
    },
    table: {
      columns: [NAME_COLUMN, AGE_COLUMN],
      row: (object, now) => [object.metadata.name ?? '', ageCell(object, now)],
    },
  };
}

type Devices = ResourceClaimTemplate['spec']['spec']['devices'];

function withDevices(object: ResourceClaimTemplate, devices: Devices): ResourceClaimTemplate {
  object.spec = { ...object.spec, spec: { ...object.spec.spec, devices } };
  return object;
}

function dropDisabledFields(
  object: ResourceClaimTemplate,
  old: Readonly<ResourceClaimTemplate> | undefined,
  features: FeatureGates,
): void {
  const before = old?.spec.spec.devices;
  const inUse = { adminAccess: specUsesAdminAccess(before), capacity: specUsesCapacity(before), old: before };
  dropSpecFields(object.spec.spec.devices, features, inUse);
}

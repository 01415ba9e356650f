import { type ExpressionChecker, EXPRESSIONS_WEIGHT } from '../../cel/expression-check.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { FieldPath, invalid } from '../../machinery/field-error.js';
import { IMMUTABLE } from '../../machinery/validation/fields.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { FeatureGates, KindDefinition } from '../../registry/kind.js';
import type { ResourceClaim } from '../../schema/generated/resource.v1.js';
import { internalValue } from '../core/internal-form/internal-value.js';
import { keepMetaForStatus } from '../status-metadata.js';
import { AdminAccessVerdicts, adminRequest, adminResult } from './admin-access.js';
import { validateClaimStatus } from './claim-status-validation.js';
import { validateDeviceClaim } from './claim-validation.js';
import { defaultClaim, defaultResults } from './defaults.js';
import { dropClaimSpecFields, dropClaimStatusFields, dropDeallocatedDevices } from './drop-claim-fields.js';
import { claimFromOld, claimToOld, defaultOldClaim } from './v1beta1-conversion.js';
import { RESOURCE_GROUP, resourceVersions, STORAGE_VERSION } from './versions.js';

const SPEC = FieldPath.of('spec');

export function resourceClaimKind(expressions: ExpressionChecker | undefined): KindDefinition<ResourceClaim> {
  const verdicts = new AdminAccessVerdicts();
  const validateSpec = ({ spec }: Readonly<ResourceClaim>, features: FeatureGates, stored: boolean) =>
    validateDeviceClaim(spec.devices, SPEC.child('devices'), { expressions, features, stored });
  return {
    group: RESOURCE_GROUP,
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    singular: 'resourceclaim',
    namespaced: true,
    versions: resourceVersions<ResourceClaim>({
      defaults: ({ spec, status }) => {
        defaultClaim(spec.devices);
        defaultResults(status);
      },
      v1beta1: {
        defaults: ({ spec, status }) => {
          defaultOldClaim(spec.devices);
          defaultResults(status);
        },
        toStorage: (object) => withDevices(object, claimFromOld(object.spec.devices)),
        fromStorage: (object) => withDevices(object, claimToOld(object.spec.devices)),
      },
    }),
    storageVersion: STORAGE_VERSION,
    strategy: {
      hasStatus: true,
      hasGeneration: false,
      transaction: {
        findings: verdicts,
        beginCreate: async (object, context) => {
          if (context.features.enabled('DRAAdminAccess')) {
            await verdicts.judge(object, adminRequest(object.spec.devices.requests), context);
          }
          return undefined;
        },
      },
      cost: { rulesWeight: EXPRESSIONS_WEIGHT },
      metadataRules: { placedOnUpdate: true },
      prepareForCreate: (object, { features }) => {
        object.status = {};
        dropClaimSpecFields(object, undefined, features);
      },
      prepareForUpdate: (object, old, { features }) => dropClaimSpecFields(object, old, features),
      validate: (object, { features }) => [...verdicts.errors(object), ...validateSpec(object, features, false)],
      validateUpdate: (object, old, { features }, { whole, change }) => [
        ...whole,
        ...validateSpec(object, features, false),
        ...change,
        ...(deepEqual(object.spec, old.spec)
          ? []
          : [invalid(SPEC, internalValue('ResourceClaimSpec', object.spec), IMMUTABLE)]),
        ...validateSpec(object, features, true),
      ],
      status: {
        tables: false,
        begin: async (object, old, context) => {
          if (adminResult(old.status.allocation?.devices.results) !== undefined) return undefined;
          await verdicts.judge(object, adminResult(object.status.allocation?.devices.results), context);
          return undefined;
        },
        prepareForUpdate: (object, old, { features }) => {
          keepMetaForStatus(object.metadata, old.metadata);
          dropDeallocatedDevices(object, old, features);
          dropClaimStatusFields(object, old, features);
        },
        validateUpdate: (object, old) => [...verdicts.errors(object), ...validateClaimStatus(object, old)],
      },
      delete: { returnsObject: true },
      resetFields: { '': [['status']], status: [['spec']] },
    },
    subresources: { status: { kind: 'ResourceClaim', verbs: ['get', 'patch', 'update'] } },
    table: {
      columns: [NAME_COLUMN, column('State', 'Whether devices are allocated and reserved.'), AGE_COLUMN],
      row: (object, now) => [object.metadata.name ?? '', stateCell(object), ageCell(object, now)],
    },
  };
}

function withDevices(object: ResourceClaim, devices: ResourceClaim['spec']['devices']): ResourceClaim {
  object.spec = { ...object.spec, devices };
  return object;
}

/** `pending`, `allocated`, `allocated,reserved`, each with `deleted` before it once deletion is requested. */
function stateCell({ metadata, status }: Readonly<ResourceClaim>): string {
  const deleted = metadata.deletionTimestamp !== undefined;
  const allocated = status.allocation !== undefined;
  return [
    ...(deleted ? ['deleted'] : []),
    ...(!allocated && !deleted ? ['pending'] : []),
    ...(allocated ? ['allocated'] : []),
    ...(allocated && (status.reservedFor ?? []).length > 0 ? ['reserved'] : []),
  ].join(',');
}

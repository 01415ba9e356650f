import { type ExpressionChecker, EXPRESSIONS_WEIGHT } from '../../cel/expression-check.js';
import { type FieldErrors, FieldPath, forbidden } from '../../machinery/field-error.js';
import { invalid } from '../../machinery/status.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition, LifeContext, Strategy } from '../../registry/kind.js';
import type { ParamKind, ValidatingAdmissionPolicy } from '../../schema/generated/admissionregistration.v1.js';
import type { MutatingAdmissionPolicy } from '../../schema/generated/admissionregistration.v1beta1.js';
import { keepMetaForStatus } from '../status-metadata.js';
import { defaultPolicy } from './defaults.js';
import { validateMutatingPolicy } from './mutating-policy-validation.js';
import { type ParamServices, refuseParamKind } from './param-authorization.js';
import { GROUP } from './policies.js';
import { validatePolicyStatus } from './policy-status.js';
import { validatePolicy } from './policy-validation.js';

type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;
type Validate<T> = (object: Readonly<T>, old: Readonly<T> | undefined) => FieldErrors;

export const validatingAdmissionPolicy = (
  services: ParamServices,
  checker: ExpressionChecker | undefined,
): KindDefinition<ValidatingAdmissionPolicy> => ({
  group: GROUP,
  kind: 'ValidatingAdmissionPolicy',
  plural: 'validatingadmissionpolicies',
  singular: 'validatingadmissionpolicy',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    { version: 'v1', defaults: defaultPolicy },
    {
      version: 'v1beta1',
      enabledByDefault: false,
      ...deprecated(`${GROUP}/v1beta1 ValidatingAdmissionPolicy`, { in: '1.31', removedIn: '1.34' }),
      defaults: defaultPolicy,
    },
  ],
  storageVersion: 'v1',
  strategy: {
    ...policyStrategy<ValidatingAdmissionPolicy>('ValidatingAdmissionPolicy', services, (object, old) =>
      validatePolicy(object, old, checker),
    ),
    hasStatus: true,
    prepareForCreate: (object) => {
      object.status = {};
    },
    status: {
      metadataRules: { placedOnUpdate: true },
      prepareForUpdate: (object, old) => keepMetaForStatus(object.metadata, old.metadata),
      validateUpdate: ({ status }) => validatePolicyStatus(status),
    },
    resetFields: { '': [['status']], status: [['spec'], ['metadata']] },
  },
  subresources: { status: { kind: 'ValidatingAdmissionPolicy', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'Validations', type: 'integer', description: 'How many validations the policy makes.' },
      column('ParamKind', 'The kind of object that holds its parameters.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      (object.spec.validations ?? []).length,
      paramKindCell(object.spec.paramKind),
      ageCell(object, now),
    ],
  },
});

export const mutatingAdmissionPolicy = (
  services: ParamServices,
  checker: ExpressionChecker | undefined,
): KindDefinition<MutatingAdmissionPolicy> => ({
  group: GROUP,
  kind: 'MutatingAdmissionPolicy',
  plural: 'mutatingadmissionpolicies',
  singular: 'mutatingadmissionpolicy',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    { version: 'v1beta1', enabledByDefault: false, defaults: defaultPolicy },
    { version: 'v1alpha1', enabledByDefault: false, defaults: defaultPolicy },
  ],
  storageVersion: 'v1alpha1',
  strategy: policyStrategy('MutatingAdmissionPolicy', services, (object, old) =>
    validateMutatingPolicy(object, old, checker),
  ),
  table: {
    columns: [
      NAME_COLUMN,
      { name: 'Mutations', type: 'integer', description: 'How many mutations the policy makes.' },
      column('ParamKind', 'The kind of object that holds its parameters.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      (object.spec.mutations ?? []).length,
      paramKindCell(object.spec.paramKind),
      ageCell(object, now),
    ],
  },
});

function policyStrategy<T extends Policy>(kind: string, services: ParamServices, validate: Validate<T>): Strategy<T> {
  // Rights are checked only when the policy is valid otherwise; a missing right is one more error of the object.
  const authorize = async (object: T, old: Readonly<T> | undefined, context: LifeContext) => {
    if (object.spec.paramKind === undefined || validate(object, old).length > 0) return undefined;
    const why = await refuseParamKind(services, object.spec.paramKind, old?.spec.paramKind, context);
    if (why === undefined) return undefined;
    throw invalid({ group: GROUP, kind }, object.metadata.name ?? '', [
      forbidden(FieldPath.of('spec', 'paramKind'), why),
    ]);
  };
  return {
    metadataRules: { anyFinalizer: true, placedOnUpdate: true },
    cost: { rulesWeight: EXPRESSIONS_WEIGHT },
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    validate: (object) => validate(object, undefined),
    validateUpdate: (object, old, _context, { whole }) => [...whole, ...validate(object, old)],
    transaction: { beginCreate: (object, context) => authorize(object, undefined, context), beginUpdate: authorize },
  };
}

const paramKindCell = (kind: ParamKind | undefined): string =>
  kind === undefined ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`;

import { type FieldErrors, FieldPath, forbidden } from '../../machinery/field-error.js';
import { invalid } from '../../machinery/status.js';
import type { LabelSelector } from '../../machinery/validation/label-selector.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { Column, KindDefinition, LifeContext, Strategy } from '../../registry/kind.js';
import type { ParamRef, ValidatingAdmissionPolicyBinding } from '../../schema/generated/admissionregistration.v1.js';
import type { MutatingAdmissionPolicyBinding } from '../../schema/generated/admissionregistration.v1beta1.js';
import { validateBindingSpec, validateMutatingBindingSpec } from './binding-validation.js';
import { defaultAlphaBinding, defaultBinding } from './defaults.js';
import { type ParamServices, refuseParamRef } from './param-authorization.js';
import { GROUP } from './policies.js';

type Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding;

export const validatingAdmissionPolicyBinding = (
  services: ParamServices,
): KindDefinition<ValidatingAdmissionPolicyBinding> => ({
  group: GROUP,
  kind: 'ValidatingAdmissionPolicyBinding',
  plural: 'validatingadmissionpolicybindings',
  singular: 'validatingadmissionpolicybinding',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    { version: 'v1', defaults: defaultBinding },
    {
      version: 'v1beta1',
      enabledByDefault: false,
      ...deprecated(`${GROUP}/v1beta1 ValidatingAdmissionPolicyBinding`, { in: '1.31', removedIn: '1.34' }),
      defaults: defaultBinding,
    },
  ],
  storageVersion: 'v1',
  strategy: bindingStrategy('ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicies', services, (object) =>
    validateBindingSpec(object.spec),
  ),
  table: { columns: COLUMNS, row },
});

export const mutatingAdmissionPolicyBinding = (
  services: ParamServices,
): KindDefinition<MutatingAdmissionPolicyBinding> => ({
  group: GROUP,
  kind: 'MutatingAdmissionPolicyBinding',
  plural: 'mutatingadmissionpolicybindings',
  singular: 'mutatingadmissionpolicybinding',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [
    { version: 'v1beta1', enabledByDefault: false, defaults: defaultBinding },
    { version: 'v1alpha1', enabledByDefault: false, defaults: defaultAlphaBinding },
  ],
  storageVersion: 'v1alpha1',
  strategy: bindingStrategy('MutatingAdmissionPolicyBinding', 'mutatingadmissionpolicies', services, (object) =>
    validateMutatingBindingSpec(object.spec),
  ),
  table: { columns: COLUMNS, row },
});

function bindingStrategy<T extends Binding>(
  kind: string,
  policies: 'validatingadmissionpolicies' | 'mutatingadmissionpolicies',
  services: ParamServices,
  validate: (object: Readonly<T>) => FieldErrors,
): Strategy<T> {
  const authorize = async (object: T, old: Readonly<T> | undefined, context: LifeContext) => {
    if (validate(object).length > 0) return undefined;
    const why = await refuseParamRef(services, { policies, spec: object.spec, old: old?.spec, context });
    if (why === undefined) return undefined;
    throw invalid({ group: GROUP, kind }, object.metadata.name ?? '', [
      forbidden(FieldPath.of('spec', 'paramRef'), why),
    ]);
  };
  return {
    metadataRules: { anyFinalizer: true, placedOnUpdate: true },
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    validate,
    validateUpdate: (object, _old, _context, { whole }) => [...whole, ...validate(object)],
    transaction: { beginCreate: (object, context) => authorize(object, undefined, context), beginUpdate: authorize },
  };
}

const COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  column('PolicyName', 'The policy that is put into force.'),
  column('ParamRef', 'The parameters it is put into force with.'),
  AGE_COLUMN,
];

const row = (object: Readonly<Binding>, now: Date) => [
  object.metadata.name ?? '',
  object.spec.policyName ?? '',
  paramCell(object.spec.paramRef),
  ageCell(object, now),
];

function paramCell(reference: ParamRef | undefined): string {
  if (reference?.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference?.selector === undefined ? '<unset>' : selectorText(reference.selector);
}

/** The selector as Go formats the struct: kube-apiserver's column shows that. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string {
  const labels = Object.keys(matchLabels).sort();
  const shownLabels = labels.map((key) => `${key}: ${matchLabels[key] ?? ''},`).join('');
  const shownExpressions = matchExpressions
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${shownLabels}},MatchExpressions:[]LabelSelectorRequirement{${shownExpressions}},}`;
}

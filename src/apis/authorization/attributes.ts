// The attributes of an access review, as the authorizer receives them.
import type { AuthorizationAttributes } from '../../authz/authorizer.js';
import { append } from '../../lib/values/append.js';
import { eachStep, type StepGenerator } from '../../lib/scheduling/yield.js';
import { type FieldRequirement, fieldSelectorSteps } from '../../machinery/field-selector.js';
import { type LabelRequirement, SelectorError } from '../../machinery/label-requirement.js';
import { labelSelectorAsSelector, labelSelectorSteps } from '../../machinery/label-selector.js';
import type { UserInfo } from '../../machinery/user.js';
import type {
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '../../schema/generated/authorization.v1.js';
import type { FieldSelectorRequirement, LabelSelectorRequirement } from '../../schema/generated/meta.v1.js';

export interface ReviewQuestion {
  readonly attributes: AuthorizationAttributes;
  /** Parts of the question that could not be read. They only narrow it, so they are left out. */
  readonly warnings: readonly string[];
}

export function* questionOf(
  user: UserInfo,
  resource: ResourceAttributes | undefined,
  nonResource: NonResourceAttributes | undefined,
): StepGenerator<ReviewQuestion> {
  if (resource === undefined) {
    return {
      attributes: { ...NOTHING, user, verb: nonResource?.verb ?? '', path: nonResource?.path ?? '' },
      warnings: [],
    };
  }
  const fields = yield* readSelector(resource.fieldSelector, fieldSelectorSteps, fieldRequirementsOf);
  const labels = yield* readSelector(resource.labelSelector, labelSelectorSteps, labelRequirementsOf);
  return {
    attributes: {
      ...NOTHING,
      user,
      resourceRequest: true,
      verb: resource.verb ?? '',
      namespace: resource.namespace ?? '',
      apiGroup: resource.group ?? '',
      apiVersion: resource.version || '*',
      resource: resource.resource ?? '',
      subresource: resource.subresource ?? '',
      name: resource.name ?? '',
      ...(fields.requirements.length > 0 && { fieldSelector: fields.requirements }),
      ...(labels.requirements.length > 0 && { labelSelector: labels.requirements }),
    },
    warnings: [...warningOf('fieldSelector', fields), ...warningOf('labelSelector', labels)],
  };
}

export const userOf = (spec: SubjectAccessReviewSpec): UserInfo => ({
  name: spec.user ?? '',
  groups: spec.groups ?? [],
  ...(spec.uid ? { uid: spec.uid } : {}),
  ...(spec.extra === undefined ? {} : { extra: spec.extra }),
});

const NOTHING = {
  resourceRequest: false,
  apiGroup: '',
  apiVersion: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  path: '',
};

interface ReadSelector<Requirement> {
  /** What could be read. */
  readonly requirements: readonly Requirement[];
  readonly failed: boolean;
}

function warningOf(field: string, { requirements, failed }: ReadSelector<unknown>): string[] {
  if (!failed) return [];
  const how = requirements.length === 0 ? 'ignored' : 'partially ignored';
  return [`spec.resourceAttributes.${field} ${how} due to parse error`];
}

interface GivenSelector<Given> {
  readonly rawSelector?: string;
  readonly requirements?: readonly Given[];
}

/** Structured requirements keep their order; those parsed from text are sorted. */
function* readSelector<Given, Requirement>(
  selector: GivenSelector<Given> | undefined,
  parse: (text: string) => StepGenerator<{ readonly requirements: readonly Requirement[] }>,
  read: (given: Given) => readonly Requirement[],
): StepGenerator<ReadSelector<Requirement>> {
  const { rawSelector = '', requirements = [] } = selector ?? {};
  try {
    if (rawSelector !== '') return { requirements: (yield* parse(rawSelector)).requirements, failed: false };
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    return { requirements: [], failed: true };
  }
  const known: Requirement[] = [];
  yield* eachStep(requirements, (given) => append(known, read(given)));
  return { requirements: known, failed: known.length < requirements.length };
}

/** Field selectors know equality only, so only lists of one value can be said. */
function fieldRequirementsOf({ key: field, operator, values = [] }: FieldSelectorRequirement): FieldRequirement[] {
  const [value] = values;
  if (values.length !== 1 || value === undefined) return [];
  if (operator === 'In') return [{ field, operator: '=', value }];
  return operator === 'NotIn' ? [{ field, operator: '!=', value }] : [];
}

function labelRequirementsOf(requirement: LabelSelectorRequirement): readonly LabelRequirement[] {
  try {
    return labelSelectorAsSelector({ matchExpressions: [requirement] }).requirements;
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

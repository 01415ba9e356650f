// The question that is put to a webhook: a SubjectAccessReview.
import type { LabelRequirement } from '../../machinery/label-requirement.js';
import { sortedExtra, type UserExtra } from '../../machinery/user.js';
import { reviewText } from '../../schema/review-webhook.js';
import type { AuthorizationAttributes } from '../authorizer.js';

export type ReviewVersion = 'v1' | 'v1beta1';

export const REVIEW_GROUP = 'authorization.k8s.io';
export const REVIEW_KIND = 'SubjectAccessReview';

/** What v1 says of a question; empty members are left out. */
export interface ReviewSpec {
  readonly resourceAttributes?: Readonly<Record<string, string | SelectorAttributes>>;
  readonly nonResourceAttributes?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: UserExtra;
  readonly uid?: string;
}

interface SelectorAttributes {
  readonly requirements: readonly SelectorRequirement[];
}

interface SelectorRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values?: readonly string[];
}

export function reviewSpec(attributes: AuthorizationAttributes): ReviewSpec {
  const { name, groups, extra, uid = '' } = attributes.user;
  return {
    ...(attributes.resourceRequest
      ? { resourceAttributes: resourceAttributes(attributes) }
      : { nonResourceAttributes: withoutEmpty({ path: attributes.path, verb: attributes.verb }) }),
    ...withoutEmpty({ user: name }),
    ...(groups.length > 0 && { groups }),
    ...(extra !== undefined && Object.keys(extra).length > 0 && { extra: sortedExtra(extra) }),
    ...withoutEmpty({ uid }),
  };
}

function resourceAttributes(attributes: AuthorizationAttributes): NonNullable<ReviewSpec['resourceAttributes']> {
  const { namespace, verb, apiGroup: group, apiVersion: version, resource, subresource, name } = attributes;
  const fields = (attributes.fieldSelector ?? []).map(({ field, operator, value }): SelectorRequirement => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
  const labels = (attributes.labelSelector ?? []).flatMap(labelRequirement);
  return {
    ...withoutEmpty({ namespace, verb, group, version, resource, subresource, name }),
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
}

/** Comparisons cannot be said in a review. Without them the question is wider, so that no answer allows too much. */
function labelRequirement({ key, operator, values }: LabelRequirement): SelectorRequirement[] {
  const known = OPERATORS[operator];
  return known === undefined ? [] : [{ key, operator: known, ...(values.length > 0 && { values }) }];
}

const OPERATORS: Readonly<Record<LabelRequirement['operator'], SelectorRequirement['operator'] | undefined>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: undefined,
  lt: undefined,
};

const withoutEmpty = (members: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== ''));

export function reviewBody(spec: ReviewSpec, version: ReviewVersion): string {
  return reviewText({
    kind: REVIEW_KIND,
    apiVersion: `${REVIEW_GROUP}/${version}`,
    metadata: {},
    spec: version === 'v1' ? spec : olderSpec(spec),
    status: { allowed: false },
  });
}

/** In v1beta1 the groups are called `group`. */
function olderSpec({ groups, extra, uid, ...before }: ReviewSpec): object {
  return { ...before, ...(groups && { group: groups }), ...(extra && { extra }), ...(uid && { uid }) };
}

/**
 * What conditions see: every text and every requirement's values are there, empty or not; the attributes and the
 * selectors only where there are any.
 */
export function conditionRequest(spec: ReviewSpec): object {
  const { resourceAttributes: resource, nonResourceAttributes: nonResource } = spec;
  return {
    user: spec.user ?? '',
    groups: spec.groups ?? [],
    uid: spec.uid ?? '',
    extra: spec.extra ?? {},
    ...(resource && { resourceAttributes: { ...NO_ATTRIBUTES, ...withValues(resource) } }),
    ...(nonResource && { nonResourceAttributes: { path: '', verb: '', ...nonResource } }),
  };
}

const withValues = (attributes: NonNullable<ReviewSpec['resourceAttributes']>): object =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, attribute]) => [
      name,
      typeof attribute === 'string'
        ? attribute
        : { requirements: attribute.requirements.map((requirement) => ({ values: [], ...requirement })) },
    ]),
  );

const NO_ATTRIBUTES = { namespace: '', verb: '', group: '', version: '', resource: '', subresource: '', name: '' };

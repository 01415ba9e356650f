// What an access review asks, as the authorizer is asked.
import type { AuthorizationAttributes } from '../../authz/authorizer.js';
import { type FieldSelector, escapeFieldValue, parseFieldSelector } from '../../machinery/field-selector.js';
import { SelectorError } from '../../machinery/label-requirement.js';
import { labelSelectorAsSelector, parseLabelSelector } from '../../machinery/label-selector.js';
import type { UserInfo } from '../../machinery/user.js';
import type {
  FieldSelectorAttributes,
  LabelSelectorAttributes,
  NonResourceAttributes,
  ResourceAttributes,
  SubjectAccessReviewSpec,
} from '../../schema/generated/authorization.v1.js';

export interface ReviewQuestion {
  readonly attributes: AuthorizationAttributes;
  /** Parts of the question that could not be read. They only narrow it, so it is asked without them. */
  readonly warnings: readonly string[];
}

export function questionOf(
  user: UserInfo,
  resource: ResourceAttributes | undefined,
  nonResource: NonResourceAttributes | undefined,
): ReviewQuestion {
  if (resource === undefined) {
    return {
      attributes: { ...NOTHING, user, verb: nonResource?.verb ?? '', path: nonResource?.path ?? '' },
      warnings: [],
    };
  }
  const fields = readSelector('fieldSelector', () => fieldSelectorText(resource.fieldSelector));
  const labels = readSelector('labelSelector', () => labelSelectorText(resource.labelSelector));
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
      ...(fields.text === '' ? {} : { fieldSelector: fields.text }),
      ...(labels.text === '' ? {} : { labelSelector: labels.text }),
    },
    warnings: [...fields.warnings, ...labels.warnings],
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

interface ReadSelector {
  /** What could be read. */
  readonly text: string;
  readonly failed: boolean;
}

function readSelector(field: string, read: () => ReadSelector): { text: string; warnings: string[] } {
  let result: ReadSelector;
  try {
    result = read();
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error;
    result = { text: '', failed: true };
  }
  if (!result.failed) return { text: result.text, warnings: [] };
  const how = result.text === '' ? 'ignored' : 'partially ignored';
  return { text: result.text, warnings: [`spec.resourceAttributes.${field} ${how} due to parse error`] };
}

function fieldSelectorText(selector: FieldSelectorAttributes | undefined): ReadSelector {
  if (selector === undefined) return { text: '', failed: false };
  if (selector.rawSelector) {
    const parsed: FieldSelector = parseFieldSelector(selector.rawSelector);
    return { text: parsed.toString(), failed: false };
  }
  const requirements = selector.requirements ?? [];
  // Field selectors know equality only, so only lists of one value can be said.
  const texts = requirements.flatMap(({ key, operator, values = [] }) => {
    const [value] = values;
    if (values.length !== 1 || value === undefined) return [];
    if (operator === 'In') return [`${key}=${escapeFieldValue(value)}`];
    return operator === 'NotIn' ? [`${key}!=${escapeFieldValue(value)}`] : [];
  });
  return { text: texts.join(','), failed: texts.length < requirements.length };
}

function labelSelectorText(selector: LabelSelectorAttributes | undefined): ReadSelector {
  if (selector === undefined) return { text: '', failed: false };
  if (selector.rawSelector) return { text: parseLabelSelector(selector.rawSelector).toString(), failed: false };
  const requirements = selector.requirements ?? [];
  const texts = requirements.flatMap((requirement) => {
    try {
      return [labelSelectorAsSelector({ matchExpressions: [requirement] }).toString()];
    } catch (error) {
      if (error instanceof SelectorError) return [];
      throw error;
    }
  });
  return { text: texts.join(','), failed: texts.length < requirements.length };
}

import { append } from '../../lib/values/append.js';
import { eachStep, type StepGenerator } from '../../lib/scheduling/yield.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import type { ObjectMeta } from '../../machinery/object.js';
import {
  validateFieldSelectorRequirement,
  validateLabelSelectorRequirement,
} from '../../machinery/validation/label-selector.js';
import { metaType } from '../../schema/catalogue.js';
import { encodeJson } from '../../schema/json/encode.js';
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SubjectAccessReview,
} from '../../schema/generated/authorization.v1.js';

export function* validateSubjectAccessReview({
  metadata,
  spec,
}: Readonly<SubjectAccessReview>): StepGenerator<FieldErrors> {
  return [
    ...(yield* validateQuestion(spec.resourceAttributes, spec.nonResourceAttributes, () => subjectErrors(spec))),
    ...validateNoMetadata(metadata, 'must be empty'),
  ];
}

export function* validateSelfSubjectAccessReview({
  metadata,
  spec,
}: Readonly<SelfSubjectAccessReview>): StepGenerator<FieldErrors> {
  return [
    ...(yield* validateQuestion(spec.resourceAttributes, spec.nonResourceAttributes, () => [])),
    ...validateNoMetadata(metadata, 'must be empty'),
  ];
}

export function* validateLocalSubjectAccessReview({
  metadata,
  spec,
}: Readonly<LocalSubjectAccessReview>): StepGenerator<FieldErrors> {
  const { namespace: inMetadata = '', ...rest } = metadata;
  const errors = yield* validateQuestion(spec.resourceAttributes, spec.nonResourceAttributes, () =>
    subjectErrors(spec),
  );
  append(errors, validateNoMetadata(rest, 'must be empty except for namespace', metadata));
  if (spec.resourceAttributes !== undefined) {
    const namespace = spec.resourceAttributes.namespace ?? '';
    if (namespace !== inMetadata) {
      errors.push(invalid(SPEC.child('resourceAttributes', 'namespace'), namespace, 'must match metadata.namespace'));
    }
  }
  if (spec.nonResourceAttributes !== undefined) {
    const value = shown(spec.nonResourceAttributes);
    errors.push(invalid(SPEC.child('nonResourceAttributes'), value, 'disallowed on this kind of request'));
  }
  return errors;
}

const SPEC = FieldPath.of('spec');

function* validateQuestion(
  resource: ResourceAttributes | undefined,
  nonResource: NonResourceAttributes | undefined,
  subject: () => FieldErrors,
): StepGenerator<FieldErrors> {
  const errors: FieldErrors = [];
  if (resource !== undefined && nonResource !== undefined) {
    const text = 'cannot be specified in combination with resourceAttributes';
    errors.push(invalid(SPEC.child('nonResourceAttributes'), shown(nonResource), text));
  }
  if (resource === undefined && nonResource === undefined) {
    const text = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(invalid(SPEC.child('resourceAttributes'), null, text));
  }
  append(errors, subject(), yield* validateResourceAttributes(resource));
  return errors;
}

const subjectErrors = ({ user, groups = [] }: SubjectAccessReview['spec']): FieldErrors =>
  user || groups.length > 0 ? [] : [invalid(SPEC.child('user'), '', 'at least one of user or group must be specified')];

function* validateResourceAttributes(resource: ResourceAttributes | undefined): StepGenerator<FieldErrors> {
  const path = SPEC.child('resourceAttributes');
  const { fieldSelector, labelSelector } = resource ?? {};
  // Newer clients may know operators that are unknown here; those are passed over later.
  const options = { allowUnknownOperator: true };
  return [
    ...(yield* validateSelector(fieldSelector, path.child('fieldSelector'), (requirement, at) =>
      validateFieldSelectorRequirement(requirement, options, at),
    )),
    ...(yield* validateSelector(labelSelector, path.child('labelSelector'), (requirement, at) =>
      validateLabelSelectorRequirement(requirement, options, at),
    )),
  ];
}

interface SelectorAttributes<Requirement> {
  readonly rawSelector?: string;
  readonly requirements?: readonly Requirement[];
}

function* validateSelector<Requirement>(
  selector: SelectorAttributes<Requirement> | undefined,
  path: FieldPath,
  validate: (requirement: Requirement, path: FieldPath) => FieldErrors,
): StepGenerator<FieldErrors> {
  if (selector === undefined) return [];
  const { rawSelector = '', requirements = [] } = selector;
  const errors: FieldErrors = [];
  if (rawSelector !== '' && requirements.length > 0) {
    const text = 'may not specified at the same time as requirements';
    errors.push(invalid(path.child('rawSelector'), rawSelector, text));
  }
  if (rawSelector === '' && requirements.length === 0) {
    const text = `when ${path.toString()} is specified, requirements or rawSelector is required`;
    errors.push(required(path.child('requirements'), text));
  }
  let position = 0;
  yield* eachStep(requirements, (requirement) => {
    append(errors, validate(requirement, path.child('requirements').index(position++)));
  });
  return errors;
}

function validateNoMetadata(metadata: ObjectMeta, text: string, whole = metadata): FieldErrors {
  const { managedFields: _, ...rest } = metadata;
  const set = Object.values(rest).some((value) => value !== undefined && value !== null && value !== '');
  if (!set) return [];
  // Shown in the order of the type, whatever the order of the request.
  const shown: unknown = JSON.parse(encodeJson(metaType('ObjectMeta'), whole));
  return [invalid(FieldPath.of('metadata'), shown, text)];
}

/** kube-apiserver shows these two names capitalized. */
const shown = ({ path = '', verb = '' }: NonResourceAttributes): object => ({ Path: path, Verb: verb });

import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  named,
} from '../../machinery/field-error.js';
import { quantitySign } from '../../machinery/quantity.js';
import type { MetricIdentifier, MetricSpec, MetricTarget } from '../../schema/generated/autoscaling.v2.js';
import { validateDnsLabel } from '../core/pod/validation/names.js';
import { validateContainerResourceName } from '../core/pod/validation/resource-names.js';
import { type ReferenceRules, validateReference, validateSegment } from './reference-validation.js';

type Source = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';

const SOURCE_OF: ReadonlyMap<string, Source> = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
]);
const TYPES = [...SOURCE_OF.keys()];
/** In the order the rules look for them: only the first source found is judged. */
const SOURCES: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource'];
const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

export function validateMetric(metric: Readonly<MetricSpec>, path: FieldPath, rules: ReferenceRules): FieldErrors {
  const errors: FieldErrors = [];
  const typePath = path.child('type');
  if (metric.type === '') errors.push(required(typePath, 'must specify a metric source type'));
  const expected = SOURCE_OF.get(metric.type);
  if (expected === undefined) errors.push(notSupported(typePath, metric.type, TYPES));
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const [first] = present;
  if (first !== undefined) append(errors, validateSource(metric, first, path.child(first), rules));
  if (expected === undefined) errors.push(notSupported(typePath, metric.type, TYPES));
  else if (metric[expected] === undefined) {
    errors.push(required(path.child(expected), 'must populate information for the given metric source'));
  }
  if (present.length !== 1) {
    for (const source of present.filter((each) => each !== expected)) {
      errors.push(forbidden(path.child(source), 'must populate the given metric source only'));
    }
  }
  return errors;
}

function validateSource(
  metric: Readonly<MetricSpec>,
  source: Source,
  path: FieldPath,
  rules: ReferenceRules,
): FieldErrors {
  const { object, external, pods, resource, containerResource } = metric;
  const targetPath = path.child('target');
  switch (source) {
    case 'object':
      if (object === undefined) return [];
      return [
        ...validateReference(object.describedObject, path.child('describedObject'), rules),
        ...validateIdentifier(object.metric, path.child('metric')),
        ...validateTarget(object.target, targetPath),
        ...requireTotal(object.target, targetPath, 'must set either a target value or averageValue'),
      ];
    case 'external':
      if (external === undefined) return [];
      return [
        ...validateIdentifier(external.metric, path.child('metric')),
        ...validateTarget(external.target, targetPath),
        ...requireTotal(external.target, targetPath, 'must set either a target value for metric or a per-pod target'),
        ...(external.target.value !== undefined && external.target.averageValue !== undefined
          ? [forbidden(targetPath.child('value'), 'may not set both a target value for metric and a per-pod target')]
          : []),
      ];
    case 'pods':
      if (pods === undefined) return [];
      return [
        ...validateIdentifier(pods.metric, path.child('metric')),
        ...validateTarget(pods.target, targetPath),
        ...(pods.target.averageValue === undefined
          ? [required(targetPath.child('averageValue'), 'must specify a positive target averageValue')]
          : []),
      ];
    case 'resource':
      if (resource === undefined) return [];
      return [
        ...(resource.name === '' ? [required(path.child('name'), 'must specify a resource name')] : []),
        ...validateTarget(resource.target, targetPath),
        ...oneUsage(resource.target, targetPath),
      ];
    case 'containerResource': {
      if (containerResource === undefined) return [];
      const { name, container, target } = containerResource;
      return [
        ...(name === ''
          ? [required(path.child('name'), 'must specify a resource name')]
          : validateContainerResourceName(name, path.child('name'))),
        ...(container === ''
          ? [required(path.child('container'), 'must specify a container')]
          : validateDnsLabel(container, path.child('container'))),
        ...validateTarget(target, targetPath),
        ...oneUsage(target, targetPath),
      ];
    }
  }
}

const validateIdentifier = ({ name }: Readonly<MetricIdentifier>, path: FieldPath): FieldErrors =>
  validateSegment(name, path.child('name'), 'must specify a metric name');

function validateTarget(target: Readonly<MetricTarget>, path: FieldPath): FieldErrors {
  const { type, averageUtilization } = target;
  const errors: FieldErrors = [];
  if (type === '') errors.push(required(path.child('type'), 'must specify a metric target type'));
  if (!TARGET_TYPES.includes(type)) {
    errors.push(invalid(path.child('type'), named(type), 'must be either Utilization, Value, or AverageValue'));
  }
  for (const member of ['value', 'averageValue'] as const) {
    const quantity = target[member];
    if (quantity !== undefined && quantitySign(quantity) <= 0) {
      errors.push(invalid(path.child(member), quantity, 'must be positive'));
    }
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    errors.push(invalid(path.child('averageUtilization'), averageUtilization, 'must be greater than 0'));
  }
  return errors;
}

const requireTotal = ({ value, averageValue }: Readonly<MetricTarget>, path: FieldPath, why: string): FieldErrors =>
  value === undefined && averageValue === undefined ? [required(path.child('averageValue'), why)] : [];

function oneUsage({ averageUtilization, averageValue }: Readonly<MetricTarget>, path: FieldPath): FieldErrors {
  if (averageUtilization === undefined && averageValue === undefined) {
    const why = 'must set either a target raw value or a target utilization';
    return [required(path.child('averageUtilization'), why)];
  }
  if (averageUtilization === undefined || averageValue === undefined) return [];
  return [forbidden(path.child('averageValue'), 'may not set both a target raw value and a target utilization')];
}

import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '../../schema/generated/resource.v1.js';
import { type ItemRule, validateList, validateSet } from './collection-rules.js';
import { validateConfiguration } from './configuration-validation.js';
import { type DeviceRules, validateSelectors } from './device-rules.js';
import { validateFullyQualifiedName, validateLabelText, validateSubdomain } from './name-rules.js';
import { validateToleration } from './taint-validation.js';

const MAX_REQUESTS = 32;
export const MAX_CONFIGURATIONS = 32;
const MAX_CONSTRAINTS = 32;
const MAX_ALTERNATIVES = 8;

export function validateDeviceClaim(claim: Readonly<DeviceClaim>, path: FieldPath, rules: DeviceRules): FieldErrors {
  const names = requestNamesOf(claim);
  return [
    ...validateSet(claim.requests, path.child('requests'), {
      item: (request, at) => validateRequest(request, at, rules),
      key: ({ name }) => name,
      keyMember: 'name',
      maxSize: MAX_REQUESTS,
    }),
    ...validateList(
      claim.constraints,
      path.child('constraints'),
      (constraint, at) => validateConstraint(constraint, at, names, rules),
      MAX_CONSTRAINTS,
    ),
    ...validateList(
      claim.config,
      path.child('config'),
      (config, at) => [
        ...validateRequestReferences(config.requests, at.child('requests'), names),
        ...validateConfiguration(config, at, rules.stored),
      ],
      MAX_CONFIGURATIONS,
    ),
  ];
}

/** What a claim's requests can be called by: `request`, and `request/alternative` for those that have alternatives. */
export type RequestNames = ReadonlySet<string>;

export const requestNamesOf = ({ requests }: Readonly<DeviceClaim>): RequestNames =>
  new Set(
    (requests ?? []).flatMap(({ name, firstAvailable }) => [
      name,
      ...(firstAvailable ?? []).map((alternative) => `${name}/${alternative.name}`),
    ]),
  );

export const validateRequestReferences = (
  references: readonly string[] | undefined,
  path: FieldPath,
  names: RequestNames,
): FieldErrors =>
  validateSet(references, path, {
    item: (reference, at) => validateRequestReference(reference, at, names),
    key: (reference) => reference,
    maxSize: MAX_REQUESTS,
  });

export function validateRequestReference(reference: string, path: FieldPath, names: RequestNames): FieldErrors {
  const segments = reference.split('/');
  const unknown = invalid(
    path,
    reference,
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
  );
  if (segments.length > 2) return [unknown];
  const errors = segments.flatMap((segment) => validateLabelText(segment, path));
  return names.has(reference) ? errors : [...errors, unknown];
}

function validateRequest(request: Readonly<DeviceRequest>, path: FieldPath, rules: DeviceRules): FieldErrors {
  const { name, exactly, firstAvailable = [] } = request;
  const errors = validateLabelText(name, path.child('name'));
  append(
    errors,
    validateSet(firstAvailable, path.child('firstAvailable'), {
      item: (alternative, at) => [
        ...validateLabelText(alternative.name, at.child('name')),
        ...validateWanted(alternative, at, rules),
      ],
      key: (alternative) => alternative.name,
      keyMember: 'name',
      maxSize: MAX_ALTERNATIVES,
    }),
  );
  if (exactly !== undefined) append(errors, validateWanted(exactly, path.child('exactly'), rules));
  const oneOf = 'exactly one of `exactly` or `firstAvailable` is required';
  if (exactly === undefined && firstAvailable.length === 0) errors.push(required(path, oneOf));
  if (exactly !== undefined && firstAvailable.length > 0) {
    errors.push(invalid(path, null, `${oneOf}, but multiple fields are set`));
  }
  return errors;
}

function validateWanted(
  wanted: Readonly<ExactDeviceRequest | DeviceSubRequest>,
  path: FieldPath,
  rules: DeviceRules,
): FieldErrors {
  const { deviceClassName, tolerations } = wanted;
  const classPath = path.child('deviceClassName');
  return [
    ...(deviceClassName === '' ? [required(classPath)] : validateSubdomain(deviceClassName, classPath)),
    ...validateSelectors(wanted.selectors, path.child('selectors'), rules),
    ...validateCount(wanted, path),
    ...validateList(tolerations, path.child('tolerations'), validateToleration),
  ];
}

function validateCount(
  { allocationMode: mode = '', count = 0 }: Readonly<DeviceSubRequest | ExactDeviceRequest>,
  path: FieldPath,
): FieldErrors {
  switch (mode) {
    case 'All':
      return count === 0
        ? []
        : [invalid(path.child('count'), count, "must not be specified when allocationMode is 'All'")];
    case 'ExactCount':
      return count > 0 ? [] : [invalid(path.child('count'), count, 'must be greater than zero')];
    default:
      return [notSupported(path.child('allocationMode'), mode, ['All', 'ExactCount'])];
  }
}

function validateConstraint(
  constraint: Readonly<DeviceConstraint>,
  path: FieldPath,
  names: RequestNames,
  { features }: DeviceRules,
): FieldErrors {
  const { matchAttribute, distinctAttribute } = constraint;
  const errors = validateRequestReferences(constraint.requests, path.child('requests'), names);
  const attribute: ItemRule<string> = validateFullyQualifiedName;
  if (matchAttribute !== undefined) return [...errors, ...attribute(matchAttribute, path.child('matchAttribute'))];
  if (distinctAttribute !== undefined) {
    return [...errors, ...attribute(distinctAttribute, path.child('distinctAttribute'))];
  }
  if (!features.enabled('DRAConsumableCapacity')) return [...errors, required(path.child('matchAttribute'))];
  const why = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set';
  return [...errors, required(path, why)];
}

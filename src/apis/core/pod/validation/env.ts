// A container's environment, and the references to a pod's own fields it shares with downward API volumes.
import { append } from '../../../../lib/values/append.js';
import {
  type FieldErrors,
  type FieldPath,
  invalid,
  required,
  plainNotSupported,
} from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import {
  isConfigMapKey,
  isDns1123Subdomain,
  isEnvVarName,
  isRelaxedEnvVarName,
  nameIsDnsSubdomain,
} from '../../../../machinery/validation/names.js';
import type {
  EnvFromSource,
  EnvVar,
  FileKeySelector,
  ObjectFieldSelector,
  PodSpec,
  ResourceFieldSelector,
} from '../../../../schema/generated/core.v1.js';
import { allContainers } from '../containers.js';
import { validateDnsLabel, validateQualifiedName } from './names.js';
import type { PodRules } from './pod-rules.js';
import { validateNoBacksteps } from './paths.js';

const ENV_FIELDS = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
/** What a field path may name at all; each use then allows some of these. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  'metadata.annotations',
  'metadata.labels',
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
const RESOURCES = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];

export function validateEnv(variables: readonly EnvVar[] | undefined, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, variable] of (variables ?? []).entries()) {
    const at = path.index(position);
    if (variable.name === '') errors.push(required(at.child('name')));
    else append(errors, invalidEach(at.child('name'), variable.name, envNameRule(rules)(variable.name)));
    if (variable.valueFrom) append(errors, validateValueFrom(variable, at.child('valueFrom'), rules));
  }
  return errors;
}

const envNameRule = ({ relaxedEnvNames }: PodRules): ((name: string) => string[]) =>
  relaxedEnvNames === true ? isRelaxedEnvVarName : isEnvVarName;

/**
 * The rules for one spec: where only names that were there before may be beyond the narrow rule, one of them that is
 * still there lets all names be so.
 */
export function withEnvNameRule(rules: PodRules, spec: Readonly<PodSpec>): PodRules {
  const { relaxedEnvNames } = rules;
  if (typeof relaxedEnvNames === 'boolean') return rules;
  return { ...rules, relaxedEnvNames: envNames(spec).some((name) => relaxedEnvNames.has(name)) };
}

/** Names only the wide rule allows. */
export const relaxedEnvNamesOf = (spec: Readonly<PodSpec>): ReadonlySet<string> =>
  new Set(envNames(spec).filter((name) => isEnvVarName(name).length > 0 && isRelaxedEnvVarName(name).length === 0));

const envNames = (spec: Readonly<PodSpec>): string[] =>
  allContainers(spec).flatMap(({ env, envFrom }) => [
    ...(env ?? []).map(({ name }) => name),
    ...(envFrom ?? []).map(({ prefix }) => prefix ?? ''),
  ]);

export function validateEnvFrom(
  sources: readonly EnvFromSource[] | undefined,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  const errors: FieldErrors = [];
  for (const [position, { prefix, configMapRef, secretRef }] of (sources ?? []).entries()) {
    const at = path.index(position);
    if (prefix) append(errors, invalidEach(at.child('prefix'), prefix, envNameRule(rules)(prefix)));
    if (configMapRef) append(errors, validateSourceName(configMapRef.name, at.child('configMapRef', 'name')));
    if (secretRef) append(errors, validateSourceName(secretRef.name, at.child('secretRef', 'name')));
    if (!configMapRef && !secretRef) {
      errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (configMapRef && secretRef) {
      errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
    }
  }
  return errors;
}

/** `allowed` must be sorted, as the error lists it. */
export function validateFieldReference(
  { apiVersion = '', fieldPath }: Readonly<ObjectFieldSelector>,
  allowed: readonly string[],
  path: FieldPath,
): FieldErrors {
  if (apiVersion === '') return [required(path.child('apiVersion'))];
  if (fieldPath === '') return [required(path.child('fieldPath'))];
  const unconvertible = (why: string): FieldErrors => [
    invalid(path.child('fieldPath'), fieldPath, `error converting fieldPath: ${why}`),
  ];
  if (apiVersion !== 'v1') return unconvertible(`unsupported pod version: ${apiVersion}`);
  const subscripted = splitSubscript(fieldPath);
  if (subscripted) {
    const { map, key } = subscripted;
    if (map === 'metadata.annotations') return validateQualifiedName(key.toLowerCase(), path);
    if (map === 'metadata.labels') return validateQualifiedName(key, path);
    return unconvertible(`field label does not support subscript: ${fieldPath}`);
  }
  // An old name of spec.nodeName, from before this version was settled.
  const field = fieldPath === 'spec.host' ? 'spec.nodeName' : fieldPath;
  if (!KNOWN_FIELDS.has(field)) return unconvertible(`field label not supported: ${fieldPath}`);
  return allowed.includes(field) ? [] : [plainNotSupported(path.child('fieldPath'), field, allowed)];
}

/** `metadata.labels['name']` is a map and a key in it. */
function splitSubscript(fieldPath: string): { map: string; key: string } | undefined {
  if (!fieldPath.endsWith("']")) return undefined;
  const path = fieldPath.slice(0, -2);
  const open = path.indexOf("['");
  return open <= 0 ? undefined : { map: path.slice(0, open), key: path.slice(open + 2) };
}

/** In a volume the container must be named; in its own environment a container is itself. */
export function validateResourceReference(
  { containerName, resource, divisor }: Readonly<ResourceFieldSelector>,
  inVolume: boolean,
  path: FieldPath,
): FieldErrors {
  const errors: FieldErrors = [];
  if (inVolume && !containerName) errors.push(required(path.child('containerName')));
  else if (resource === '') errors.push(required(path.child('resource')));
  else if (!RESOURCES.includes(resource) && !isHugePages(resource)) {
    errors.push(plainNotSupported(path.child('resource'), resource, RESOURCES));
  }
  append(errors, validateDivisor(resource, divisor, path.child('divisor')));
  return errors;
}

const isHugePages = (resource: string): boolean => /^(requests|limits)\.hugepages-/.test(resource);

const CPU_DIVISORS: ReadonlySet<string> = new Set(['1m', '1']);
const BYTE_DIVISORS = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

function validateDivisor(resource: string, divisor: string | undefined, path: FieldPath): FieldErrors {
  if (divisor === undefined || divisor === '0') return [];
  const bytes = (what: string): FieldErrors =>
    BYTE_DIVISORS.includes(divisor)
      ? []
      : [
          invalid(
            path,
            resource,
            `only divisor's values ${BYTE_DIVISORS.join(', ')} are supported with the ${what} resource`,
          ),
        ];
  switch (resource) {
    case 'limits.cpu':
    case 'requests.cpu':
      if (CPU_DIVISORS.has(divisor)) return [];
      return [invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource")];
    case 'limits.memory':
    case 'requests.memory':
      return bytes('memory');
    case 'limits.ephemeral-storage':
    case 'requests.ephemeral-storage':
      return bytes('local ephemeral storage');
    default:
      return isHugePages(resource) ? bytes('hugepages') : [];
  }
}

function validateValueFrom({ value, valueFrom }: Readonly<EnvVar>, path: FieldPath, rules: PodRules): FieldErrors {
  if (!valueFrom) return [];
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom;
  const errors: FieldErrors = [];
  if (fieldRef) append(errors, validateFieldReference(fieldRef, ENV_FIELDS, path.child('fieldRef')));
  if (resourceFieldRef) {
    append(errors, validateResourceReference(resourceFieldRef, false, path.child('resourceFieldRef')));
  }
  if (configMapKeyRef) append(errors, validateKeyReference(configMapKeyRef, path.child('configMapKeyRef')));
  if (secretKeyRef) append(errors, validateKeyReference(secretKeyRef, path.child('secretKeyRef')));
  if (fileKeyRef) append(errors, validateFileReference(fileKeyRef, path.child('fileKeyRef')));

  const count = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length;
  if (count === 0) {
    const sources = rules.envFiles
      ? '`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
      : '`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    errors.push(invalid(path, '', `must specify one of: ${sources}`));
  } else if (value) errors.push(invalid(path, '', 'may not be specified when `value` is not empty'));
  else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'));
  return errors;
}

function validateKeyReference({ name = '', key }: { name?: string; key: string }, path: FieldPath): FieldErrors {
  const errors = invalidEach(path.child('name'), name, isDns1123Subdomain(name));
  if (key === '') errors.push(required(path.child('key')));
  else append(errors, invalidEach(path.child('key'), key, isConfigMapKey(key)));
  return errors;
}

function validateFileReference(
  { key, volumeName, path: file }: Readonly<FileKeySelector>,
  path: FieldPath,
): FieldErrors {
  return [
    ...(key ? invalidEach(path.child('key'), key, isRelaxedEnvVarName(key)) : [required(path.child('key'))]),
    ...(volumeName ? validateDnsLabel(volumeName, path.child('volumeName')) : [required(path.child('volumeName'))]),
    ...(file ? validateNoBacksteps(file, path.child('path')) : [required(path.child('path'))]),
  ];
}

/** Checked as a prefix would be, since names of sources were once matched so. */
const validateSourceName = (name: string | undefined, path: FieldPath): FieldErrors =>
  name ? invalidEach(path, name, nameIsDnsSubdomain(name, true)) : [required(path)];

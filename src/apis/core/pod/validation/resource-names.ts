// The names of the resources that containers request.
import { type FieldErrors, type FieldPath, invalid, notSupported, named } from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isQualifiedName } from '../../../../machinery/validation/names.js';

export const isHugePages = (name: string): boolean => name.startsWith('hugepages-');

/** Without a domain, or with Kubernetes' own. */
export const isNativeResource = (name: string): boolean => !name.includes('/') || name.includes('kubernetes.io/');

/** Native resources but huge pages may be promised to more than they suffice for. */
export const isOvercommitAllowed = (name: string): boolean => isNativeResource(name) && !isHugePages(name);

const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const COUNTED_RESOURCES: ReadonlySet<string> = new Set([
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([
  ...CONTAINER_RESOURCES,
  ...COUNTED_RESOURCES,
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'storage',
  'requests.storage',
]);

const isStandardResource = (name: string): boolean =>
  STANDARD_RESOURCES.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');

/** A device or other thing that others than Kubernetes count: `example.com/gpu`. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** Things that come in whole numbers only. */
export const isIntegerResource = (name: string): boolean => COUNTED_RESOURCES.has(name) || isExtendedResource(name);

export function validateResourceName(name: string, path: FieldPath): FieldErrors {
  const errors = invalidEach(path, named(name), isQualifiedName(name));
  if (errors.length === 0 && !name.includes('/') && !isStandardResource(name)) {
    errors.push(invalid(path, named(name), 'must be a standard resource type or fully qualified'));
  }
  return errors;
}

export function validateContainerResourceName(name: string, path: FieldPath): FieldErrors {
  if (CONTAINER_RESOURCES.has(name)) return [];
  const errors = validateResourceName(name, path);
  if (!name.includes('/')) {
    if (!isHugePages(name)) errors.push(invalid(path, named(name), 'must be a standard resource for containers'));
  } else if (!isNativeResource(name) && !isExtendedResource(name)) {
    errors.push(invalid(path, named(name), "doesn't follow extended resource name standard"));
  }
  return errors;
}

const POD_RESOURCES = ['cpu', 'memory'];

export const isPodLevelResource = (name: string): boolean => POD_RESOURCES.includes(name) || isHugePages(name);

export function validatePodResourceName(name: string, path: FieldPath): FieldErrors {
  const errors = validateResourceName(name, path);
  if (errors.length > 0) return errors;
  return isPodLevelResource(name) ? [] : [notSupported(path, name, ['cpu', 'hugepages-', 'memory'])];
}

// What --runtime-config may name.
import { errorText } from '../lib/text/error-text.js';
import { goQuote } from '../lib/go/quote.js';
import { parseBool } from '../lib/go/strconv.js';
import { apiEnablement, VERSION_CLASSES, type EmulatedApis, type RuntimeConfig } from '../machinery/api-enablement.js';
import { INTRODUCTIONS, LATE_VERSIONS } from '../machinery/api-introduction.js';
import { minorVersionText } from '../machinery/kube-version.js';

const VERSIONS_BY_GROUP: Readonly<Record<string, readonly string[]>> = {
  '': ['v1'],
  'admission.k8s.io': ['v1', 'v1beta1'],
  'admissionregistration.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'internal.apiserver.k8s.io': ['v1alpha1'],
  apps: ['v1', 'v1beta2', 'v1beta1'],
  'authentication.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'authorization.k8s.io': ['v1', 'v1beta1'],
  autoscaling: ['v2', 'v1', 'v2beta1', 'v2beta2'],
  batch: ['v1', 'v1beta1'],
  'certificates.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'coordination.k8s.io': ['v1', 'v1beta1', 'v1alpha2'],
  'discovery.k8s.io': ['v1', 'v1beta1'],
  'events.k8s.io': ['v1', 'v1beta1'],
  extensions: ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1', 'v1beta3', 'v1beta2', 'v1beta1'],
  'imagepolicy.k8s.io': ['v1alpha1'],
  'networking.k8s.io': ['v1', 'v1beta1'],
  'node.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  policy: ['v1', 'v1beta1'],
  'rbac.authorization.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'resource.k8s.io': ['v1beta2', 'v1', 'v1beta1', 'v1alpha3'],
  'scheduling.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'storage.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'storagemigration.k8s.io': ['v1alpha1'],
};
/** Groups of the custom-resource and aggregation servers: known, though their versions are not checked. */
const OTHER_GROUPS = ['apiextensions.k8s.io', 'apiregistration.k8s.io'];

/** `v1`, `api/v1` and their resources all mean the core group; `api/legacy` means nothing any more. */
export function normalRuntimeConfig(config: RuntimeConfig): RuntimeConfig {
  const normal: Record<string, string> = {};
  for (const [key, value] of Object.entries(config)) {
    if (/^(?:api\/)?v1(?:\/|$)/.test(key)) normal['/v1'] = value;
    else if (key !== 'api/legacy') normal[key] = value;
  }
  return normal;
}

/** Keys that cannot be, and groups nobody knows. */
export function runtimeConfigErrors(config: RuntimeConfig): string[] {
  const keys = Object.keys(config);
  if (config['api/all'] === 'false' && keys.length === 1) return ['invalid key with only api/all=false'];
  const unknown: string[] = [];
  for (const key of keys) {
    if (key in VERSION_CLASSES) continue;
    const tokens = key.split('/');
    const [group = ''] = tokens;
    if (tokens.length !== 2 && tokens.length !== 3) return [`runtime-config invalid key ${key}`];
    if (!(group in VERSIONS_BY_GROUP) && !OTHER_GROUPS.includes(group)) unknown.push(group);
  }
  return unknown.length === 0 ? [] : [`unknown api groups ${unknown.join(',')}`];
}

/** What is wrong with versions and values, met when the settings are applied. */
export function runtimeConfigValueError(config: RuntimeConfig): string | undefined {
  for (const key of Object.keys(VERSION_CLASSES)) {
    const value = config[key];
    if (value !== undefined && value !== 'true' && value !== 'false') return `invalid value ${key}=${value}`;
  }
  for (const [key, value] of Object.entries(config)) {
    if (key in VERSION_CLASSES) continue;
    const [group = '', version = '', resource] = key.split('/');
    const versions = VERSIONS_BY_GROUP[group];
    if (versions === undefined) continue;
    if (!versions.includes(version)) {
      return `group version ${group === '' ? version : `${group}/${version}`} that has not been registered`;
    }
    try {
      if (value !== '') parseBool(value);
    } catch (error) {
      return `invalid value of ${key}: ${value}, err: ${errorText(error)}`;
    }
    if (resource !== undefined && resource !== resource.toLowerCase()) {
      return `invalid key ${key}: group/version/resource and resource is always lowercase plural, not ${goQuote(resource)}`;
    }
  }
  return undefined;
}

/** Settings that enable what the emulated release did not have yet. */
export function runtimeConfigTooNewError(config: RuntimeConfig, emulated: EmulatedApis): string | undefined {
  if (emulated.namedForwardCompatible) return undefined;
  const current = minorVersionText(emulated.version);
  const advice = 'Consider setting --runtime-config-emulation-forward-compatible=true';
  const enablement = apiEnablement(config, emulated);
  for (const [key, value] of Object.entries(config)) {
    if (value !== '' && !parseBool(value)) continue;
    const [group = '', version = '', resource] = key.split('/');
    const introduced = INTRODUCTIONS[key];
    if (resource !== undefined && introduced !== undefined && introduced.minor > emulated.version.minor) {
      if (enablement.resource(group, version, resource, false)) continue;
      const name = `${group}/${version}, Resource=${resource}`;
      const since = minorVersionText({ major: emulated.version.major, minor: introduced.minor });
      return `cannot enable resource ${name} in runtime-config because it is introduced at ${since} after the current version ${current}. ${advice}`;
    }
    const allSince = LATE_VERSIONS[key];
    if (allSince !== undefined && allSince > emulated.version.minor && !emulated.forwardCompatible) {
      return `cannot enable version ${key} in runtime-config because all the resources have been introduced after the current version ${current}. ${advice}`;
    }
  }
  return undefined;
}

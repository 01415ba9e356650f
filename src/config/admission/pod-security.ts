import type { PodSecurityOptions } from '../../admission/plugins/pod-security.js';
import { parseLevel, parseVersion, type LevelVersion, type Mode } from '../../admission/pod-security/policy.js';
import {
  aggregateText,
  duplicate,
  type FieldErrors,
  fieldErrorText,
  FieldPath,
  invalid,
} from '../../machinery/field-error.js';
import { isDns1123Label, nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type { PodSecurityConfiguration, PodSecurityDefaults } from '../../schema/generated/podsecurity.v1.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig } from '../decode-config.js';

const GROUP = 'pod-security.admission.config.k8s.io';

export type PodSecuritySettings = Pick<PodSecurityOptions, 'defaults' | 'exemptions'>;

/** The older versions have its fields. */
const NOW = { kind: 'PodSecurityConfiguration', apiVersion: `${GROUP}/v1` };
const KINDS = {
  kinds: [{ kind: NOW.kind, apiVersions: ['v1', 'v1beta1', 'v1alpha1'].map((v) => `${GROUP}/${v}`), now: NOW }],
  scheme: 'k8s.io/pod-security-admission/admission/api/scheme/scheme.go:31',
};

/** An empty text is all defaults. Throws a ConfigError; `Unfit` for one that can be read but makes no sense. */
export function podSecuritySettings(text: string): PodSecuritySettings {
  const object: Partial<PodSecurityConfiguration> = text === '' ? {} : decodeConfig(text, KINDS).object;
  const { defaults = {}, exemptions = {} } = object;
  const { usernames = [], namespaces = [], runtimeClasses = [] } = exemptions;
  const policy = policyOf(defaults);
  const path = FieldPath.of('exemptions');
  const errors = [
    ...eachOnce(path.child('namespaces'), namespaces, (name) => isDns1123Label(name)),
    ...eachOnce(path.child('runtimeClasses'), runtimeClasses, (name) => nameIsDnsSubdomain(name, false)),
    ...eachOnce(path.child('usernames'), usernames, (name) => (name === '' ? ['username must not be empty'] : [])),
  ];
  if (errors.length > 0) throw new Unfit(`PodSecurity invalid: ${aggregateText(errors.map(fieldErrorText))}`);
  return { defaults: policy, exemptions: { usernames, namespaces, runtimeClasses } };
}

/** Reported when the plugin starts, in other words than validation's. */
export class Unfit extends ConfigError {}

function policyOf(defaults: PodSecurityDefaults): PodSecuritySettings['defaults'] {
  const errors: string[] = [];
  const read = (mode: Mode): LevelVersion => {
    const level = parseLevel(defaults[mode] || 'privileged');
    const minor = parseVersion(defaults[`${mode}-version`] || 'latest');
    if (typeof level === 'object') errors.push(`${mode}: ${level.error}`);
    if (typeof minor === 'object') errors.push(`${mode}-version: ${minor.error}`);
    return {
      level: typeof level === 'object' ? 'restricted' : level,
      minor: typeof minor === 'object' ? Infinity : minor,
    };
  };
  const policy = { enforce: read('enforce'), audit: read('audit'), warn: read('warn') };
  if (errors.length > 0) throw new Unfit(`PodSecurity configuration error: ${aggregateText(errors)}`);
  return policy;
}

function eachOnce(path: FieldPath, names: readonly string[], check: (name: string) => readonly string[]): FieldErrors {
  const seen = new Set<string>();
  const errors: FieldErrors = [];
  for (const [index, name] of names.entries()) {
    const wrong = check(name);
    if (wrong.length > 0) errors.push(invalid(path.index(index), name, wrong.join(', ')));
    else if (seen.has(name)) errors.push(duplicate(path.index(index), name));
    else seen.add(name);
  }
  return errors;
}

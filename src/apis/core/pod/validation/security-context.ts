import { append } from '../../../../lib/values/append.js';
import { internalValue } from '../../internal-form/internal-value.js';
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
  named,
} from '../../../../machinery/field-error.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isValidGroupId, isValidUserId } from '../../../../machinery/validation/names.js';
import type {
  AppArmorProfile,
  PodSpec,
  SeccompProfile,
  SecurityContext,
} from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';
import { validateLocalDescendingPath } from './paths.js';
import { validateSysctls } from './sysctls.js';
import { validateWindowsOptions } from './windows.js';

const PROFILE_TYPES = ['Localhost', 'RuntimeDefault', 'Unconfined'];
const MAX_APPARMOR_PROFILE_LENGTH = 4095;

/** The security context of the whole pod; `path` is the context's. */
export function validatePodSecurityContext(spec: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  const context = spec.securityContext ?? {};
  const errors: FieldErrors = [];
  if (context.fsGroup !== undefined) {
    append(errors, invalidEach(path.child('fsGroup'), context.fsGroup, isValidGroupId(context.fsGroup)));
  }
  append(errors, validateRunAs(context, path));
  for (const [position, group] of (context.supplementalGroups ?? []).entries()) {
    append(errors, invalidEach(path.child('supplementalGroups').index(position), group, isValidGroupId(group)));
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(path.child('shareProcessNamespace'), true, why));
  }
  if (context.sysctls) append(errors, validateSysctls(context.sysctls, spec, path.child('sysctls'), rules));
  append(
    errors,
    oneOf(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], path.child('fsGroupChangePolicy')),
    validateSeccompProfile(context.seccompProfile, path.child('seccompProfile')),
    validateWindowsOptions(context.windowsOptions, path.child('windowsOptions')),
    validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile')),
    oneOf(context.supplementalGroupsPolicy, ['Merge', 'Strict'], path.child('supplementalGroupsPolicy')),
    oneOf(
      context.seLinuxChangePolicy,
      rules.onlyRecursiveSELinux ? ['Recursive'] : ['MountOption', 'Recursive'],
      path.child('seLinuxChangePolicy'),
    ),
  );
  return errors;
}

/** The security context of one container. `hostUsers`: the pod does not have a user namespace of its own. */
export function validateSecurityContext(
  context: Readonly<SecurityContext> | undefined,
  hostUsers: boolean,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  if (context === undefined) return [];
  const errors: FieldErrors = [];
  if (context.privileged && !rules.allowPrivileged) {
    errors.push(forbidden(path.child('privileged'), 'disallowed by cluster policy'));
  }
  append(errors, validateRunAs(context, path));
  append(errors, oneOf(context.procMount, ['Default', 'Unmasked'], path.child('procMount')));
  if (hostUsers && context.procMount === 'Unmasked') {
    errors.push(invalid(path.child('procMount'), context.procMount, '`hostUsers` must be false to use `Unmasked`'));
  }
  append(
    errors,
    validateSeccompProfile(context.seccompProfile, path.child('seccompProfile')),
    validatePrivilegeEscalation(context, path),
    validateWindowsOptions(context.windowsOptions, path.child('windowsOptions')),
    validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile')),
  );
  return errors;
}

const oneOf = (value: string | undefined, supported: readonly string[], path: FieldPath): FieldErrors =>
  value === undefined || supported.includes(value) ? [] : [notSupported(path, value, supported)];

function validateRunAs(
  { runAsUser, runAsGroup }: { readonly runAsUser?: number; readonly runAsGroup?: number },
  path: FieldPath,
): FieldErrors {
  return [
    ...(runAsUser === undefined ? [] : invalidEach(path.child('runAsUser'), runAsUser, isValidUserId(runAsUser))),
    ...(runAsGroup === undefined ? [] : invalidEach(path.child('runAsGroup'), runAsGroup, isValidGroupId(runAsGroup))),
  ];
}

function validatePrivilegeEscalation(context: Readonly<SecurityContext>, path: FieldPath): FieldErrors {
  if (context.allowPrivilegeEscalation !== false) return [];
  const errors: FieldErrors = [];
  const refuse = (what: string): void => {
    const why = `cannot set \`allowPrivilegeEscalation\` to false and ${what}`;
    errors.push(invalid(path, internalValue('SecurityContext', context), why));
  };
  if (context.privileged) refuse('`privileged` to true');
  for (const capability of context.capabilities?.add ?? []) {
    if (capability === 'CAP_SYS_ADMIN') refuse('`capabilities.Add` CAP_SYS_ADMIN');
  }
  return errors;
}

function validateSeccompProfile(profile: Readonly<SeccompProfile> | undefined, path: FieldPath): FieldErrors {
  if (profile === undefined) return [];
  const errors: FieldErrors = [];
  const { type, localhostProfile } = profile;
  if (type === '') errors.push(required(path.child('type'), 'type is required when seccompProfile is set'));
  else append(errors, oneOf(type, PROFILE_TYPES, path.child('type')));
  const at = path.child('localhostProfile');
  if (type === 'Localhost') {
    if (localhostProfile === undefined) errors.push(required(at, 'must be set when seccomp type is Localhost'));
    else append(errors, validateLocalDescendingPath(localhostProfile, at));
  } else if (localhostProfile !== undefined) {
    const why = 'can only be set when seccomp type is Localhost';
    errors.push(invalid(at, internalValue('SeccompProfile', profile), why));
  }
  return errors;
}

function validateAppArmorProfile(profile: Readonly<AppArmorProfile> | undefined, path: FieldPath): FieldErrors {
  if (profile === undefined) return [];
  const { type, localhostProfile } = profile;
  if (type === '') return [required(path.child('type'), 'type is required when appArmorProfile is set')];
  if (!PROFILE_TYPES.includes(type)) return [notSupported(path.child('type'), type, PROFILE_TYPES)];
  const at = path.child('localhostProfile');
  if (type !== 'Localhost') {
    if (localhostProfile === undefined) return [];
    return [invalid(at, named(localhostProfile), 'can only be set when AppArmor type is Localhost')];
  }
  const missing = required(at, 'must be set when AppArmor type is Localhost');
  if (localhostProfile === undefined) return [missing];
  const errors: FieldErrors = [];
  if (localhostProfile.trim() !== localhostProfile) {
    errors.push(invalid(at, localhostProfile, 'must not be padded with whitespace'));
  } else if (localhostProfile === '') errors.push(missing);
  if (Buffer.byteLength(localhostProfile) > MAX_APPARMOR_PROFILE_LENGTH) {
    errors.push(tooLong(at, MAX_APPARMOR_PROFILE_LENGTH));
  }
  return errors;
}

// What only Windows pods, or only the others, may set.
import { append } from '../../../../lib/values/append.js';
import { type FieldErrors, type FieldPath, forbidden, invalid, named } from '../../../../machinery/field-error.js';
import { wasExplicitEmpty } from '../../../../machinery/explicit-empty.js';
import { invalidEach } from '../../../../machinery/validation/fields.js';
import { isDns1123Subdomain } from '../../../../machinery/validation/names.js';
import type {
  PodSecurityContext,
  PodSpec,
  WindowsSecurityContextOptions,
} from '../../../../schema/generated/core.v1.js';
import { containersWithPaths } from '../containers.js';
import type { PodRules } from './pod-rules.js';

const MAX_CREDENTIAL_SPEC_KIB = 64;
const MAX_DOMAIN_LENGTH = 256;
const MAX_USER_LENGTH = 104;
const NOT_FOR_WINDOWS = 'cannot be set for a windows pod';

const controlCharacters = /[\x00-\x1f\x7f]/;
const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const dnsLabel = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;
const forbiddenInUser = /["/\\:;|=,+*?<>@[\]]/;
const onlyDotsAndSpaces = /^[. ]+$/;

export function validateWindowsOptions(
  options: Readonly<WindowsSecurityContextOptions> | undefined,
  path: FieldPath,
): FieldErrors {
  if (options === undefined) return [];
  const { gmsaCredentialSpecName: name, gmsaCredentialSpec: spec, runAsUserName } = options;
  const errors: FieldErrors = [];
  if (name !== undefined) {
    append(errors, invalidEach(path.child('gmsaCredentialSpecName'), named(name), isDns1123Subdomain(name)));
  }
  if (spec === '') {
    errors.push(invalid(path.child('gmsaCredentialSpec'), named(spec), 'gmsaCredentialSpec cannot be an empty string'));
  } else if (spec !== undefined && Buffer.byteLength(spec) > MAX_CREDENTIAL_SPEC_KIB * 1024) {
    const why = `gmsaCredentialSpec size must be under ${MAX_CREDENTIAL_SPEC_KIB} KiB`;
    errors.push(invalid(path.child('gmsaCredentialSpec'), named(spec), why));
  }
  if (runAsUserName !== undefined) {
    append(errors, invalidEach(path.child('runAsUserName'), named(runAsUserName), userNameMessages(runAsUserName)));
  }
  return errors;
}

/** In a pod either every container is a process of its host or none; such a pod uses the host's network. */
export function validateHostProcess(spec: Readonly<PodSpec>, path: FieldPath, rules: PodRules): FieldErrors {
  const errors: FieldErrors = [];
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let containers = 0;
  let hostProcesses = 0;
  for (const [container, at] of containersWithPaths(spec, path)) {
    containers++;
    const own = container.securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.push(invalid(at.child('securityContext', 'windowsOptions', 'hostProcess'), own, why));
    }
    if (own ?? ofPod) hostProcesses++;
  }
  if (hostProcesses === 0) return errors;
  if (hostProcesses !== containers) {
    const why = 'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.push(invalid(path, '', why));
  }
  if (!spec.hostNetwork) {
    const why = 'hostNetwork must be true if pod contains any hostProcess containers';
    errors.push(invalid(path.child('hostNetwork'), false, why));
  }
  if (!rules.allowPrivileged) {
    errors.push(forbidden(path, 'hostProcess containers are disallowed by cluster policy'));
  }
  return errors;
}

/** What a pod that says it is for Linux may not set. */
export function validateLinuxPod(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  const why = 'windows options cannot be set for a linux pod';
  if (spec.securityContext?.windowsOptions) {
    errors.push(forbidden(path.child('securityContext', 'windowsOptions'), why));
  }
  for (const [container, at] of containersWithPaths(spec, path)) {
    if (container.securityContext?.windowsOptions) {
      errors.push(forbidden(at.child('securityContext', 'windowsOptions'), why));
    }
  }
  return errors;
}

/** In the order of the errors; `spec` members stand in the pod's spec, the others in its security context. */
const POD_MEMBERS = [
  { context: 'appArmorProfile' },
  { context: 'seLinuxOptions' },
  { spec: 'hostUsers' },
  { spec: 'hostPID' },
  { spec: 'hostIPC' },
  { context: 'seccompProfile' },
  { context: 'fsGroup' },
  { context: 'fsGroupChangePolicy' },
  { context: 'sysctls' },
  { spec: 'shareProcessNamespace' },
  { context: 'runAsUser' },
  { context: 'runAsGroup' },
  { context: 'supplementalGroups' },
  { context: 'supplementalGroupsPolicy' },
  { context: 'seLinuxChangePolicy' },
] as const;
const CONTAINER_MEMBERS = [
  'appArmorProfile',
  'seLinuxOptions',
  'seccompProfile',
  'capabilities',
  'readOnlyRootFilesystem',
  'privileged',
  'allowPrivilegeEscalation',
  'procMount',
  'runAsUser',
  'runAsGroup',
] as const;

/** What a pod that says it is for Windows may not set. */
export function validateWindowsPod(spec: Readonly<PodSpec>, path: FieldPath): FieldErrors {
  const errors: FieldErrors = [];
  for (const member of POD_MEMBERS) {
    if ('spec' in member) {
      if (spec[member.spec] !== undefined) errors.push(forbidden(path.child(member.spec), NOT_FOR_WINDOWS));
    } else if (spec.securityContext && isSet(spec.securityContext, member.context)) {
      errors.push(forbidden(path.child('securityContext', member.context), NOT_FOR_WINDOWS));
    }
  }
  for (const [{ securityContext }, at] of containersWithPaths(spec, path)) {
    for (const member of CONTAINER_MEMBERS) {
      if (securityContext?.[member] === undefined) continue;
      errors.push(forbidden(at.child('securityContext', member), NOT_FOR_WINDOWS));
    }
  }
  return errors;
}

/** An empty list of groups is also one; an empty one of sysctls sets none. */
const isSet = (context: Readonly<PodSecurityContext>, member: keyof PodSecurityContext): boolean =>
  context[member] !== undefined || (member === 'supplementalGroups' && wasExplicitEmpty(context, member));

function userNameMessages(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string'];
  if (controlCharacters.test(name)) return ['runAsUserName cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash'];
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const user = parts[parts.length - 1] ?? '';
  const messages: string[] = [];
  if (domain !== undefined) {
    if (Buffer.byteLength(domain) >= MAX_DOMAIN_LENGTH) {
      messages.push(`runAsUserName's Domain length must be under ${MAX_DOMAIN_LENGTH} characters`);
    }
    if (!netBiosName.test(domain) && !domain.split('.').every((label) => dnsLabel.test(label))) {
      messages.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
    }
  }
  if (user === '') messages.push("runAsUserName's User cannot be empty");
  else if (Buffer.byteLength(user) > MAX_USER_LENGTH) {
    messages.push(`runAsUserName's User length must not be longer than ${MAX_USER_LENGTH} characters`);
  }
  if (onlyDotsAndSpaces.test(user)) messages.push("runAsUserName's User cannot contain only periods or spaces");
  if (forbiddenInUser.test(user)) {
    messages.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]');
  }
  return messages;
}

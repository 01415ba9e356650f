import { duplicate, type FieldErrors, type FieldPath, invalid, required } from '../../../../machinery/field-error.js';
import type { PodSpec, Sysctl } from '../../../../schema/generated/core.v1.js';
import type { PodRules } from './pod-rules.js';

const MAX_LENGTH = 253;
const SEGMENT = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const NAME = `^(${SEGMENT}[\\./])*${SEGMENT}$`;
const name = new RegExp(NAME);

export function validateSysctls(
  sysctls: readonly Sysctl[],
  spec: Readonly<PodSpec>,
  path: FieldPath,
  rules: PodRules,
): FieldErrors {
  const errors: FieldErrors = [];
  const seen = new Set<string>();
  for (const [position, sysctl] of sysctls.entries()) {
    const at = path.index(position).child('name');
    if (sysctl.name === '') errors.push(required(at));
    else if (sysctl.name.length > MAX_LENGTH || !name.test(sysctl.name)) {
      errors.push(invalid(at, sysctl.name, `must have at most ${MAX_LENGTH} characters and match regex ${NAME}`));
    } else if (seen.has(sysctl.name)) errors.push(duplicate(at, sysctl.name));
    if (!rules.allowHostSysctls) {
      const host = hostNamespaceOf(sysctl.name, spec);
      if (host !== undefined) errors.push(invalid(at, sysctl.name, `may not be specified when '${host}' is true`));
    }
    seen.add(sysctl.name);
  }
  return errors;
}

/** True when the pod shares the namespace the setting belongs to with its node. */
export const isHostSysctl = (sysctl: string, spec: Readonly<PodSpec>): boolean =>
  hostNamespaceOf(sysctl, spec) !== undefined;

const IPC_SETTINGS: ReadonlySet<string> = new Set([
  'kernel.sem',
  'kernel.shmall',
  'kernel.shmmax',
  'kernel.shmmni',
  'kernel.shm_rmid_forced',
  'kernel.shm',
  'kernel.msgmax',
  'kernel.msgmnb',
  'kernel.msgmni',
  'kernel.msg',
]);

function hostNamespaceOf(sysctl: string, spec: Readonly<PodSpec>): 'hostNetwork' | 'hostIPC' | undefined {
  let setting = dotted(sysctl);
  const star = setting.indexOf('*');
  if (star >= 0) setting = setting.slice(0, star);
  if (spec.hostNetwork && setting.startsWith('net.')) return 'hostNetwork';
  if (spec.hostIPC && (IPC_SETTINGS.has(setting) || setting.startsWith('fs.mqueue.'))) return 'hostIPC';
  return undefined;
}

/** With slashes as separators, dots belong to the segments; the other way round for the dotted form. */
function dotted(sysctl: string): string {
  const first = /[./]/.exec(sysctl)?.[0];
  if (first !== '/') return sysctl;
  return sysctl.replace(/[./]/g, (separator) => (separator === '/' ? '.' : '/'));
}

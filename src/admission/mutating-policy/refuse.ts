import { StatusError } from '../../machinery/status.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { MutatingBinding, MutatingPolicy } from './compile.js';

/** Why a policy could not be applied. */
export interface Refusal {
  readonly policy: MutatingPolicy;
  readonly binding?: MutatingBinding;
  readonly message: string;
  /** Forbidden, where it does not say. */
  readonly reason?: string;
}

/** Refuses the request unless all policies that failed have the failure policy Ignore. The client gets the first failure. */
export function refuse(attributes: AdmissionAttributes, refusals: readonly Refusal[]): void {
  const counted = refusals.filter(({ policy }) => policy.spec.failurePolicy !== 'Ignore');
  const [first] = counted;
  if (first === undefined) return;
  const { details } = forbid(attributes, '');
  const causes = counted.map((refusal) => ({ message: textOf(refusal) }));
  throw new StatusError(403, first.reason ?? 'Forbidden', textOf(first), { ...details, causes });
}

const textOf = ({ policy, binding, message }: Refusal): string =>
  binding === undefined
    ? `policy "${policy.name}" denied request: ${message}`
    : `policy '${policy.name}' with binding '${binding.name}' denied request: ${message}`;

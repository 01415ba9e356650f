// A claim for a device that others use is accepted only in a namespace labelled for admin access.
import { type FieldErrors, FieldPath, forbidden, internal } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/object.js';
import type { Findings, LifeContext } from '../../registry/kind.js';
import type { DeviceRequest, DeviceRequestAllocationResult } from '../../schema/generated/resource.v1.js';

const NAMESPACE_LABEL = 'resource.kubernetes.io/admin-access';
const REFUSED = `admin access to devices requires the \`${NAMESPACE_LABEL}: true\` label on the containing namespace`;

/**
 * Looking at the namespace takes time, validation does not: what was found before validation is kept here for it, by
 * the object it was found for.
 */
export class AdminAccessVerdicts implements Findings {
  private readonly refusals = new WeakMap<object, object>();

  async judge(object: KubeObject, wanted: FieldPath | undefined, { lookup, namespace }: LifeContext): Promise<void> {
    if (wanted === undefined) return;
    const found = await lookup.get({ group: '', resource: 'namespaces' }, '', namespace);
    if (found?.metadata.labels?.[NAMESPACE_LABEL] === 'true') return;
    const missing = `could not retrieve namespace to verify admin access: namespaces "${namespace}" not found`;
    const refusal: Refusal = { at: wanted.toString(), ...(found === undefined && { missing }) };
    this.attach(object, refusal);
  }

  of(object: object): object | undefined {
    return this.refusals.get(object);
  }

  attach(object: object, refusal: object): void {
    this.refusals.set(object, refusal);
  }

  errors(object: object): FieldErrors {
    const refusal = this.of(object) as Refusal | undefined;
    if (refusal === undefined) return [];
    const at = FieldPath.of(refusal.at);
    return [refusal.missing === undefined ? forbidden(at, REFUSED) : internal(at, refusal.missing)];
  }
}

interface Refusal {
  readonly at: string;
  /** What there is to say of a namespace that is not there. */
  readonly missing?: string;
}

/** The path of the first request for admin access; undefined when none has it. */
export function adminRequest(requests: readonly DeviceRequest[] | null): FieldPath | undefined {
  const position = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
  return position < 0 ? undefined : FieldPath.of('spec', 'devices', 'requests').index(position).child('adminAccess');
}

export function adminResult(results: readonly DeviceRequestAllocationResult[] | undefined): FieldPath | undefined {
  const position = (results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
  if (position < 0) return undefined;
  return FieldPath.of('status', 'allocation', 'devices', 'results').index(position).child('adminAccess');
}

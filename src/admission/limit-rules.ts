// The rules a limit range can state about one resource of a container, pod or claim.
import { ownMember } from '../lib/values/plain-object.js';
import { eachStep, type StepGenerator } from '../lib/scheduling/yield.js';
import { parseQuantity, scaledValue } from '../machinery/quantity.js';
import type { ResourceList } from '../schema/generated/core.v1.js';

export interface Amounts {
  readonly requests?: Readonly<ResourceList>;
  readonly limits?: Readonly<ResourceList>;
}

/** One amount against one rule: what is wrong, in words. */
export type LimitRule = (subject: Subject) => string | undefined;

export interface Subject {
  /** `Container`, `Pod` or `PersistentVolumeClaim`. */
  readonly type: string;
  readonly resource: string;
  readonly enforced: string;
  readonly request: string | undefined;
  readonly limit: string | undefined;
}

export interface LimitCheck {
  readonly found: string[];
  readonly type: string;
  readonly enforced: Readonly<ResourceList> | undefined;
  readonly amounts: Amounts;
  readonly rule: LimitRule;
}

/** Adds all that a rule finds wrong, by resource name. */
export function* limitViolations({
  found,
  type,
  enforced,
  amounts: { requests, limits },
  rule,
}: LimitCheck): StepGenerator<void> {
  yield* eachStep(Object.keys(enforced ?? {}).sort(), (resource) => {
    const subject = { type, resource, enforced: enforced?.[resource] ?? '0' };
    const wrong = rule({ ...subject, request: ownMember(requests, resource), limit: ownMember(limits, resource) });
    if (wrong !== undefined) found.push(wrong);
  });
}

export function minimum({ type, resource, enforced, request, limit }: Subject): string | undefined {
  const head = `minimum ${resource} usage per ${type} is ${enforced}`;
  if (request === undefined) return `${head}.  No request is specified`;
  const { requestValue, limitValue, enforcedValue } = comparable(request, limit, enforced);
  if (requestValue < enforcedValue) return `${head}, but request is ${request}`;
  if (limit !== undefined && limitValue < enforcedValue) return `${head}, but limit is ${limit}`;
  return undefined;
}

export function maximum({ type, resource, enforced, request, limit }: Subject): string | undefined {
  const head = `maximum ${resource} usage per ${type} is ${enforced}`;
  if (limit === undefined) return `${head}.  No limit is specified`;
  const { requestValue, limitValue, enforcedValue } = comparable(request, limit, enforced);
  if (limitValue > enforcedValue) return `${head}, but limit is ${limit}`;
  if (request !== undefined && requestValue > enforcedValue) return `${head}, but request is ${request}`;
  return undefined;
}

/** For claims, which have no limits. */
export function maxRequest({ type, resource, enforced, request }: Subject): string | undefined {
  const head = `maximum ${resource} usage per ${type} is ${enforced}`;
  if (request === undefined) return `${head}.  No request is specified`;
  const { requestValue, enforcedValue } = comparable(request, undefined, enforced);
  return requestValue > enforcedValue ? `${head}, but request is ${request}` : undefined;
}

export function ratio({ type, resource, enforced, request, limit }: Subject): string | undefined {
  const head = `${resource} max limit to request ratio per ${type} is ${enforced}`;
  const { requestValue, limitValue } = comparable(request, limit, enforced);
  if (requestValue === 0n) return `${head}, but no request is specified or request is 0`;
  if (limitValue === 0n) return `${head}, but no limit is specified or limit is 0`;
  const given = Number(limitValue) / Number(requestValue);
  const fine = scaledValue(enforced) <= MAX_FINE;
  const most = Number(fine ? scaledValue(enforced, -3) : scaledValue(enforced));
  if (given * (fine ? 1000 : 1) <= most) return undefined;
  return `${head}, but provided ratio is ${given.toFixed(6)}`;
}

/** The largest value whose thousandths kube-apiserver still counts. */
const MAX_FINE = (2n ** 63n - 1n) / 1000n;

/** In thousandths where all three fit, else in whole units. */
function comparable(request: string | undefined, limit: string | undefined, enforced: string) {
  const quantities = [request ?? '0', limit ?? '0', enforced].map(parseQuantity);
  const scale = quantities.every((quantity) => scaledValue(quantity) <= MAX_FINE) ? -3 : 0;
  const [requestValue = 0n, limitValue = 0n, enforcedValue = 0n] = quantities.map((q) => scaledValue(q, scale));
  return { requestValue, limitValue, enforcedValue };
}

import { type GroupResource, groupResourceText } from '../../machinery/status.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { ResourceList } from '../../schema/generated/core.v1.js';
import { claimEvaluator } from './persistent-volume-claims.js';
import { podEvaluator } from './pods.js';
import { resourceClaimEvaluator } from './resource-claims.js';
import { serviceEvaluator } from './services.js';
import type { QuotaEvaluator } from './evaluator.js';

/** Undefined for what is never counted. */
export function evaluatorFor(resource: GroupResource, features: FeatureGates): QuotaEvaluator | undefined {
  const name = groupResourceText(resource);
  if (UNCOUNTED.has(name)) return undefined;
  if (name === RESOURCE_CLAIMS && !features.enabled('DynamicResourceAllocation')) return plainClaimCounter;
  let found = evaluators.get(name);
  if (found === undefined) {
    found = objectCounter(resource, ALIASES.get(name));
    if (evaluators.size < MAX_EVALUATORS) evaluators.set(name, found);
  }
  return found;
}

/** Reviews are not stored; counting events would make quota the busiest object there is. */
const UNCOUNTED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'tokenreviews.authentication.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  ...['subjectaccessreviews', 'selfsubjectaccessreviews', 'localsubjectaccessreviews', 'selfsubjectrulesreviews'].map(
    (resource) => `${resource}.authorization.k8s.io`,
  ),
]);

/** Kinds that could be counted before all could. */
const ALIASES: ReadonlyMap<string, string> = new Map(
  ['configmaps', 'resourcequotas', 'replicationcontrollers', 'secrets'].map((name) => [name, name]),
);

const RESOURCE_CLAIMS = groupResourceText(resourceClaimEvaluator.resource);
/** Claims are objects like others where nobody allocates devices. */
const plainClaimCounter = objectCounter(resourceClaimEvaluator.resource, undefined);

const MAX_EVALUATORS = 10_000;
const evaluators = new Map<string, QuotaEvaluator>(
  [podEvaluator, serviceEvaluator, claimEvaluator, resourceClaimEvaluator].map((evaluator) => [
    groupResourceText(evaluator.resource),
    evaluator,
  ]),
);

function objectCounter(resource: GroupResource, alias: string | undefined): QuotaEvaluator {
  const names = [`count/${groupResourceText(resource)}`, ...(alias === undefined ? [] : [alias])];
  const usage: ResourceList = Object.fromEntries(names.map((name) => [name, '1']));
  return {
    resource,
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    counts: (name) => names.includes(name),
    usage: () => usage,
    each: usage,
  };
}

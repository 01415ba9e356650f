// Whether a policy or a binding is for a request: by its rules, and by the labels of the object and its namespace.
import { errorText } from '../../lib/text/error-text.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { labelSelectorAsSelector, type LabelSelector } from '../../machinery/label-selector.js';
import type { GroupVersionResource } from '../../machinery/object.js';
import { internalError, notFound, type StatusError } from '../../machinery/status.js';
import type { LabelSelector as SelectorObject } from '../../schema/generated/meta.v1.js';
import type { MatchResources, NamedRuleWithOperations } from '../../schema/generated/admissionregistration.v1.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { SeenRequest } from './seen-request.js';
import type { ResourceMatch } from './resource-match.js';

/** Something about the policy or its binding itself is wrong. */
export interface Fault {
  readonly fault: string;
  /** The Status for the client where no failure policy applies. */
  readonly status?: StatusError;
}

export const isFault = (value: object | undefined): value is Fault => value !== undefined && 'fault' in value;

/** What a policy or binding is for, with its selectors read once. */
export interface Criteria {
  readonly resources: Readonly<MatchResources>;
  readonly namespaceSelector: LabelSelector | Fault;
  readonly objectSelector: LabelSelector | Fault;
}

const NAMESPACES = { group: '', resource: 'namespaces' };

export const criteriaOf = (resources: Readonly<MatchResources>): Criteria => ({
  resources,
  namespaceSelector: selectorOf(resources.namespaceSelector),
  objectSelector: selectorOf(resources.objectSelector),
});

function selectorOf(selector: SelectorObject | undefined): LabelSelector | Fault {
  try {
    return labelSelectorAsSelector(selector);
  } catch (error) {
    return faultOf(internalError(errorText(error)));
  }
}

const faultOf = (status: StatusError): Fault => ({ fault: status.message, status });

// hot: every policy is matched on every write. What costs nothing is checked first, the namespace last.
export function matchRequest(
  criteria: Criteria,
  request: SeenRequest,
): MaybePromise<ResourceMatch | Fault | undefined> {
  const matched = matchResources(criteria.resources, request);
  if (matched === undefined || isFault(matched)) return matched;
  const byObject = matchesObject(criteria.objectSelector, request);
  if (byObject === false) return undefined;
  return whenReady(matchesNamespace(criteria.namespaceSelector, request), (byNamespace) => {
    if (byNamespace === false) return undefined;
    if (byNamespace !== true) return byNamespace;
    return byObject === true ? whenReady(request.prepare(matched), () => matched) : byObject;
  });
}

/** By the rules alone. Without any rule, everything matches. */
export function matchResources(
  { resourceRules = [], excludeResourceRules = [], matchPolicy }: Readonly<MatchResources>,
  request: SeenRequest,
): ResourceMatch | Fault | undefined {
  const equivalent = matchPolicy !== undefined && matchPolicy !== 'Exact';
  if (excludeResourceRules.length > 0) {
    const excluded = matchRules(excludeResourceRules, equivalent, request);
    if (excluded !== undefined) return isFault(excluded) ? excluded : undefined;
  }
  if (resourceRules.length === 0) return { resource: request.attributes.resource, kind: request.kind };
  return matchRules(resourceRules, equivalent, request);
}

function matchRules(
  rules: readonly NamedRuleWithOperations[],
  equivalent: boolean,
  request: SeenRequest,
): ResourceMatch | Fault | undefined {
  const { attributes, kind } = request;
  for (const rule of rules) {
    if (ruleMatches(rule, attributes, attributes.resource) && nameMatches(rule, attributes)) {
      return { resource: attributes.resource, kind };
    }
  }
  if (!equivalent || !rules.some((rule) => operationMatches(rule, attributes))) return undefined;
  const { equivalents } = request;
  for (const rule of rules) {
    for (const other of equivalents) {
      if (ruleMatches(rule, attributes, other.resource) && nameMatches(rule, attributes)) return other;
    }
  }
  return undefined;
}

function ruleMatches(
  rule: NamedRuleWithOperations,
  attributes: AdmissionAttributes,
  resource: GroupVersionResource,
): boolean {
  return (
    operationMatches(rule, attributes) &&
    isAmong(rule.apiGroups, resource.group) &&
    isAmong(rule.apiVersions, resource.version) &&
    resourceMatches(rule, resource.resource, attributes.subresource) &&
    scopeMatches(rule, attributes, resource)
  );
}

const operationMatches = ({ operations }: NamedRuleWithOperations, { operation }: AdmissionAttributes): boolean =>
  isAmong(operations, operation);

const isAmong = (wanted: readonly string[] | undefined, value: string): boolean =>
  wanted !== undefined && (wanted.includes(value) || wanted.includes('*'));

/** `pods`, `pods/status`, `pods/*`, `*`: a resource without a subresource means only the resource itself. */
function resourceMatches({ resources = [] }: NamedRuleWithOperations, resource: string, subresource: string): boolean {
  return resources.some((wanted) => {
    const slash = wanted.indexOf('/');
    const wantedResource = slash < 0 ? wanted : wanted.slice(0, slash);
    const wantedSubresource = slash < 0 ? '' : wanted.slice(slash + 1);
    return (
      (wantedResource === '*' || wantedResource === resource) &&
      (wantedSubresource === '*' || wantedSubresource === subresource)
    );
  });
}

/** A namespace is in itself as far as requests go, yet belongs to the cluster. */
function scopeMatches(
  { scope }: NamedRuleWithOperations,
  { namespace }: AdmissionAttributes,
  resource: GroupVersionResource,
): boolean {
  if (scope === undefined || scope === '*') return true;
  const ofCluster =
    namespace === '' || (resource.group === '' && resource.version === 'v1' && resource.resource === 'namespaces');
  switch (scope) {
    case 'Namespaced':
      return !ofCluster;
    case 'Cluster':
      return ofCluster;
    default:
      return false;
  }
}

const nameMatches = ({ resourceNames = [] }: NamedRuleWithOperations, { name }: AdmissionAttributes): boolean =>
  resourceNames.length === 0 || resourceNames.includes(name);

/** The object as it is or as it was: removing a label does not evade a policy. */
function matchesObject(selector: LabelSelector | Fault, { object, old }: SeenRequest): boolean | Fault {
  if (isFault(selector) || selector.empty) return isFault(selector) ? selector : true;
  return [object, old].some((each) => each !== undefined && selector.matches(each.metadata.labels));
}

function matchesNamespace(
  selector: LabelSelector | Fault,
  { attributes, object }: SeenRequest,
): MaybePromise<boolean | Fault> {
  const { namespace, resource, subresource, operation, context } = attributes;
  const ofNamespace = resource.resource === 'namespaces';
  if (namespace === '' && !ofNamespace) return true;
  if (isFault(selector)) return selector;
  if (selector.empty) return true;
  // What is being written is not in the cache yet.
  if (ofNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) {
    return selector.matches(object?.metadata.labels);
  }
  return whenReady(context.lookup.get(NAMESPACES, '', namespace), (found) =>
    found === undefined ? faultOf(notFound(NAMESPACES, namespace)) : selector.matches(found.metadata.labels),
  );
}

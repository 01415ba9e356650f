// The Node mode: a kubelet may read what its node needs, and write what is its own. What it writes is looked at more
// closely by the NodeRestriction plugin, which sees the object.
import { goQuote } from '../../lib/go/quote.js';
import type { FeatureGates } from '../../machinery/feature-gates.js';
import type { AuthorizationAttributes, AuthorizationResult, Authorizer, RulesResult } from '../authorizer.js';
import type { PolicyRule } from '../rbac-objects.js';
import { ruleAllows } from '../rule-match.js';
import type { GraphKind, NodeGraph } from './graph.js';
import { nodeNameOf } from './identity.js';

export interface NodeAuthorizerOptions {
  readonly graph: NodeGraph;
  /** What every node may do with resources that do not belong to one node. */
  readonly rules: readonly PolicyRule[];
  readonly features: Pick<FeatureGates, 'enabled'>;
}

const NODE_LEASES = 'kube-node-lease';

export function nodeAuthorizer(options: NodeAuthorizerOptions): Authorizer {
  const judges = judgesOf(options);
  return {
    authorize(attributes) {
      const node = nodeNameOf(attributes.user);
      if (node === undefined) return NO_OPINION;
      if (node === '') return noOpinion(`unknown node for user ${goQuote(attributes.user.name)}`);
      const judge = attributes.resourceRequest
        ? judges.get(`${attributes.apiGroup}/${attributes.resource}`)
        : undefined;
      if (judge !== undefined) return judge(node, attributes);
      return options.rules.some((rule) => ruleAllows(rule, attributes)) ? ALLOW : NO_OPINION;
    },
    rulesFor: (user) => (nodeNameOf(user) === undefined ? NO_RULES : UNKNOWN_RULES),
  };
}

const ALLOW: AuthorizationResult = { decision: 'allow', reason: '' };
const NO_OPINION: AuthorizationResult = { decision: 'no-opinion', reason: '' };
const noOpinion = (reason: string): AuthorizationResult => ({ decision: 'no-opinion', reason });

const NO_RULES: RulesResult = { resourceRules: [], nonResourceRules: [], incomplete: false };
const UNKNOWN_RULES: RulesResult = {
  ...NO_RULES,
  incomplete: true,
  evaluationError: 'node authorizer does not support user rule resolution',
};

type Judge = (node: string, attributes: AuthorizationAttributes) => AuthorizationResult;

/** The resources whose objects belong to some nodes and not to others, as `group/resource`. */
function judgesOf({ graph, features }: NodeAuthorizerOptions): ReadonlyMap<string, Judge> {
  const bySelectors = features.enabled('AuthorizeNodeWithSelectors');
  const certificates = features.enabled('PodCertificateRequest');
  const readsAccounts = certificates || features.enabled('KubeletServiceAccountTokenForCredentialProviders');

  const related = (kind: GraphKind): Judge => {
    return (node, { namespace, name }) => {
      if (name === '') return noOpinion('No Object name found');
      return graph.leadsTo(node, kind, namespace, name) ? ALLOW : unrelated(node);
    };
  };
  const get = (kind: GraphKind): Judge => {
    const judge = related(kind);
    return (node, attributes) => {
      if (attributes.verb !== 'get') return noOpinion('can only get individual resources of this type');
      if (attributes.subresource !== '') return noOpinion('cannot get subresource');
      return judge(node, attributes);
    };
  };
  const read = (kind: GraphKind): Judge => {
    const judge = related(kind);
    return (node, attributes) => {
      if (!isRead(attributes.verb)) return noOpinion('can only read resources of this type');
      if (attributes.subresource !== '') return noOpinion('cannot read subresource');
      if (attributes.namespace === '') return noOpinion('can only read namespaced object of this type');
      return judge(node, attributes);
    };
  };

  const judges = new Map<string, Judge>([
    ['/secrets', read('secret')],
    ['/configmaps', read('configmap')],
    ['/persistentvolumeclaims', volumeClaims(get('pvc'), related('pvc'))],
    ['/persistentvolumes', get('pv')],
    ['resource.k8s.io/resourceclaims', get('resourceclaim')],
    ['storage.k8s.io/volumeattachments', get('volumeattachment')],
    ['/serviceaccounts', serviceAccounts(readsAccounts ? read('serviceaccount') : undefined, graph)],
    ['coordination.k8s.io/leases', leases],
    ['storage.k8s.io/csinodes', csiNodes],
    ['resource.k8s.io/resourceslices', resourceSlices(related('resourceslice'), bySelectors)],
  ]);
  if (!bySelectors) return judges;
  judges.set('/nodes', nodes);
  judges.set('/pods', pods(get('pod'), related('pod')));
  if (certificates) {
    judges.set('certificates.k8s.io/podcertificaterequests', podCertificates(related('podcertificaterequest')));
  }
  return judges;
}

const volumeClaims = (get: Judge, related: Judge): Judge => {
  return (node, attributes) => {
    if (attributes.subresource !== 'status') return get(node, attributes);
    if (!isChange(attributes.verb)) return noOpinion('can only get/update/patch this type');
    return related(node, attributes);
  };
};

/** `read` is undefined where nodes have no use for service accounts. */
const serviceAccounts = (read: Judge | undefined, graph: NodeGraph): Judge => {
  return (node, attributes) => {
    const { verb, subresource, namespace, name } = attributes;
    if (verb === 'get' && subresource === '') {
      return read === undefined ? noOpinion('not allowed to get service accounts') : read(node, attributes);
    }
    if (verb !== 'create' || name === '') return noOpinion('can only create tokens for individual service accounts');
    if (subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount');
    return graph.leadsTo(node, 'serviceaccount', namespace, name) ? ALLOW : unrelated(node);
  };
};

const leases: Judge = (node, { verb, namespace, name }) => {
  if (!isCareOfOne(verb)) return noOpinion('can only get, create, update, patch, or delete a node lease');
  if (namespace !== NODE_LEASES) {
    return noOpinion(`can only access leases in the ${goQuote(NODE_LEASES)} system namespace`);
  }
  // The name of what is created stands in the object, which NodeRestriction sees. Here and below.
  if (verb === 'create' || name === node) return ALLOW;
  return noOpinion('can only access node lease with the same name as the requesting node');
};

const csiNodes: Judge = (node, { verb, subresource, name }) => {
  if (!isCareOfOne(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return ALLOW;
  return noOpinion('can only access CSINode with the same name as the requesting node');
};

const resourceSlices = (related: Judge, bySelectors: boolean): Judge => {
  return (node, attributes) => {
    if (attributes.subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources');
    switch (attributes.verb) {
      case 'create':
        return ALLOW;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return related(node, attributes);
      case 'watch':
      case 'list':
      case 'deletecollection':
        if (!bySelectors || isNarrowedTo(attributes, node)) return ALLOW;
        return noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return noOpinion(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  };
};

const podCertificates = (related: Judge): Judge => {
  return (node, attributes) => {
    const { verb, subresource } = attributes;
    if (subresource !== '') {
      return noOpinion('nodes may not access the status subresource of PodCertificateRequests');
    }
    if (verb === 'create') return ALLOW;
    if (verb === 'get') return related(node, attributes);
    if (verb !== 'list' && verb !== 'watch') return noOpinion(`nodes may not ${verb} podcertificaterequests`);
    if (isNarrowedTo(attributes, node)) return ALLOW;
    return noOpinion('can only list/watch podcertificaterequests with nodeName field selector');
  };
};

/** A kubelet looks for its own node before it makes it, so names are compared instead of using the graph. */
const nodes: Judge = (node, { verb, subresource, name }) => {
  if (subresource === 'status') return isChange(verb) ? ALLOW : NO_OPINION;
  if (subresource !== '') return NO_OPINION;
  if (verb === 'create' || isChange(verb)) return ALLOW;
  if (!isRead(verb)) return NO_OPINION;
  if (name === node) return ALLOW;
  if (name === '') return noOpinion(`node '${node}' cannot read all nodes, only its own Node object`);
  return noOpinion(`node '${node}' cannot read '${name}', only its own Node object`);
};

const pods = (get: Judge, related: Judge): Judge => {
  return (node, attributes) => {
    const { verb, subresource, name } = attributes;
    if (subresource === 'status') return isChange(verb) ? ALLOW : NO_OPINION;
    if (subresource === 'eviction') return verb === 'create' ? ALLOW : NO_OPINION;
    if (subresource !== '') return NO_OPINION;
    switch (verb) {
      case 'get':
        return get(node, attributes);
      case 'list':
      case 'watch':
        if (isNarrowedTo(attributes, node)) return ALLOW;
        if (name !== '') return related(node, attributes);
        return noOpinion('can only list/watch pods with spec.nodeName field selector');
      case 'create':
      case 'delete':
        return ALLOW;
      default:
        return NO_OPINION;
    }
  };
};

const unrelated = (node: string): AuthorizationResult =>
  noOpinion(`no relationship found between node '${node}' and this object`);

const isRead = (verb: string): boolean => verb === 'get' || verb === 'list' || verb === 'watch';
const isChange = (verb: string): boolean => verb === 'update' || verb === 'patch';
const isCareOfOne = (verb: string): boolean =>
  verb === 'get' || verb === 'create' || isChange(verb) || verb === 'delete';

const isNarrowedTo = ({ fieldSelector = [] }: AuthorizationAttributes, node: string): boolean =>
  fieldSelector.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node);

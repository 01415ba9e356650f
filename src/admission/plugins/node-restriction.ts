import type { Authorizer } from '../../authz/authorizer.js';
import { nodeNameOf } from '../../authz/node/identity.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { PersistentVolumeClaim } from '../../schema/generated/core.v1.js';
import type { ResourceSlice } from '../../schema/generated/resource.v1.js';
import { forbid } from '../forbid.js';
import { restrictPodCertificate, restrictSigningRequest } from '../node-restriction/certificates.js';
import { restrictNode } from '../node-restriction/nodes.js';
import { restrictPod } from '../node-restriction/pods.js';
import { restrictToken } from '../node-restriction/tokens.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const LEASE_NAMESPACE = 'kube-node-lease';

/** Holds each kubelet to its own node and the pods bound to it. */
export const nodeRestriction = (authorizer: Authorizer): AdmissionPlugin => ({
  name: 'NodeRestriction',
  handles: (operation) => operation !== 'CONNECT',
  admit(attributes) {
    const { user } = attributes.context;
    const node = nodeNameOf(user);
    if (node === undefined) return undefined;
    if (node === '') throw forbid(attributes, `could not determine node from user ${goQuote(user.name)}`);
    return restrict(authorizer, node, attributes);
  },
});

function restrict(authorizer: Authorizer, node: string, attributes: AdmissionAttributes): Promise<void> | void {
  const { group, resource } = attributes.resource;
  switch (group === '' ? resource : `${resource}.${group}`) {
    case 'pods':
      return restrictPod(node, attributes);
    case 'nodes':
      return restrictNode(node, attributes);
    case 'persistentvolumeclaims':
      return restrictClaim(node, attributes);
    case 'serviceaccounts':
      return restrictToken(authorizer, node, attributes);
    case 'podcertificaterequests.certificates.k8s.io':
      return restrictPodCertificate(node, attributes);
    case 'certificatesigningrequests.certificates.k8s.io':
      return restrictSigningRequest(node, attributes);
    case 'leases.coordination.k8s.io':
      return restrictLease(node, attributes);
    case 'csinodes.storage.k8s.io':
      return restrictName(node, attributes, 'can only access CSINode with the same name as the requesting node');
    case 'resourceslices.resource.k8s.io':
      return restrictSlice(node, attributes);
    default:
      return undefined;
  }
}

function restrictClaim(node: string, attributes: AdmissionAttributes): void {
  const { operation, subresource, object, old, context } = attributes;
  if (subresource !== 'status') throw forbid(attributes, 'may only update PVC status');
  if (operation !== 'UPDATE') throw forbid(attributes, `unexpected operation ${goQuote(operation)}`);
  const allocated = context.features.enabled('RecoverVolumeExpansionFailure');
  const [before, after] = [old, object].map((claim) => rest(claim as PersistentVolumeClaim, allocated));
  if (deepEqual(before, after)) return;
  throw forbid(
    attributes,
    `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${JSON.stringify(before)} became ${JSON.stringify(after)}`,
  );
}

/** A claim without what a kubelet that grew its volume reports. */
function rest({ metadata, spec, status }: PersistentVolumeClaim, allocated: boolean): object {
  const { resourceVersion: _version, managedFields: _fields, ...meta } = metadata;
  const { capacity: _capacity, conditions: _conditions, ...others } = status ?? {};
  if (!allocated) return { metadata: meta, spec, status: others };
  const { allocatedResources: _resources, allocatedResourceStatuses: _statuses, ...kept } = others;
  return { metadata: meta, spec, status: kept };
}

function restrictLease(node: string, attributes: AdmissionAttributes): void {
  if (attributes.namespace !== LEASE_NAMESPACE) {
    throw forbid(attributes, `can only access leases in the ${goQuote(LEASE_NAMESPACE)} system namespace`);
  }
  restrictName(node, attributes, 'can only access node lease with the same name as the requesting node');
}

function restrictName(node: string, attributes: AdmissionAttributes, why: string): void {
  const { operation, object, name } = attributes;
  if ((operation === 'CREATE' ? object?.metadata.name : name) !== node) throw forbid(attributes, why);
}

function restrictSlice(node: string, attributes: AdmissionAttributes): void {
  const { operation, object, old } = attributes;
  if (operation === 'UPDATE') return;
  const slice = (operation === 'CREATE' ? object : old) as ResourceSlice;
  if (slice.spec.nodeName === node) return;
  const verb = operation === 'CREATE' ? 'create' : 'delete';
  throw forbid(attributes, `can only ${verb} ResourceSlice with the same NodeName as the requesting node`);
}

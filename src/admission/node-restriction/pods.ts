// What a kubelet may do to pods: show its own static ones, report on and remove those bound to it.
import { configMapNames, MIRROR_ANNOTATION, secretNames } from '../../authz/node/pod-references.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import type { Pod, PodStatus, Volume } from '../../schema/generated/core.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import { find } from './refuse.js';

export async function restrictPod(node: string, attributes: AdmissionAttributes): Promise<void> {
  switch (attributes.subresource) {
    case '':
      return restrictPodItself(node, attributes);
    case 'status':
      return restrictPodStatus(node, attributes);
    case 'eviction':
      return restrictEviction(node, attributes);
    default:
      throw forbid(
        attributes,
        `unexpected pod subresource ${goQuote(attributes.subresource)}, only 'status' and 'eviction' are allowed`,
      );
  }
}

async function restrictPodItself(node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, namespace, name, context } = attributes;
  if (operation === 'CREATE') return restrictMirrorPod(node, attributes);
  if (operation !== 'DELETE') {
    throw forbid(
      attributes,
      `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`,
    );
  }
  const pod = (await find(context, 'pod', namespace, name)) as Pod;
  if (pod.spec.nodeName === node) return;
  throw forbid(attributes, `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`);
}

async function restrictMirrorPod(node: string, attributes: AdmissionAttributes): Promise<void> {
  const pod = attributes.object as Pod;
  const who = `node ${goQuote(node)}`;
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] === undefined) {
    throw forbid(
      attributes,
      `pod does not have ${goQuote(MIRROR_ANNOTATION)} annotation, ${who} can only create mirror pods`,
    );
  }
  if (pod.spec.nodeName !== node) {
    throw forbid(attributes, `${who} can only create pods with spec.nodeName set to itself`);
  }
  await restrictOwner(node, attributes, pod);
  const referenced = referencedObjects(pod);
  if (referenced !== undefined) throw forbid(attributes, `${who} can not create pods that reference ${referenced}`);
}

async function restrictOwner(node: string, attributes: AdmissionAttributes, { metadata }: Pod): Promise<void> {
  const who = `node ${goQuote(node)}`;
  const [owner, ...others] = metadata.ownerReferences ?? [];
  if (others.length > 0) {
    throw forbid(attributes, `${who} can only create pods with a single owner reference set to itself`);
  }
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw forbid(attributes, `${who} can only create pods with an owner reference set to itself`);
  }
  if (!owner.controller) {
    throw forbid(attributes, `${who} can only create pods with a controller owner reference set to itself`);
  }
  if (owner.blockOwnerDeletion) {
    throw forbid(attributes, `${who} must not set blockOwnerDeletion on an owner reference`);
  }
  const { uid = '' } = (await find(attributes.context, 'node', '', node)).metadata;
  if (owner.uid !== uid) {
    throw forbid(attributes, `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  }
}

function restrictPodStatus(node: string, attributes: AdmissionAttributes): void {
  const who = `node ${goQuote(node)}`;
  if (attributes.operation !== 'UPDATE') {
    throw forbid(attributes, `unexpected operation ${goQuote(attributes.operation)}`);
  }
  const old = attributes.old as Pod;
  const pod = attributes.object as Pod;
  if (old.spec.nodeName !== node) {
    throw forbid(attributes, `${who} can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!deepEqual(old.metadata.labels ?? {}, pod.metadata.labels ?? {})) {
    throw forbid(attributes, `${who} cannot update labels through pod status`);
  }
  if (!deepEqual(claimsOf(old.status), claimsOf(pod.status))) {
    throw forbid(attributes, `${who} cannot update resource claim statues`);
  }
  if (!deepEqual(old.status?.extendedResourceClaimStatus, pod.status?.extendedResourceClaimStatus)) {
    throw forbid(attributes, `${who} cannot update extended resource claim status`);
  }
}

const claimsOf = (status: PodStatus | undefined): object =>
  (status?.resourceClaimStatuses ?? []).map(({ name, resourceClaimName }) => [name, resourceClaimName ?? null]);

async function restrictEviction(node: string, attributes: AdmissionAttributes): Promise<void> {
  const { operation, namespace, context, object } = attributes;
  if (operation !== 'CREATE') throw forbid(attributes, `unexpected operation ${operation}`);
  const name = attributes.name || object?.metadata.name || '';
  if (name === '') throw forbid(attributes, 'could not determine pod from request data');
  const pod = (await find(context, 'pod', namespace, name)) as Pod;
  if (pod.spec.nodeName === node) return;
  throw forbid(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

/** A static pod knows nothing of the API, so it may not lead its kubelet to anything there. */
function referencedObjects({ spec }: Pod): string | undefined {
  if (spec.serviceAccountName) return 'serviceaccounts';
  if (secretNames(spec).length > 0) return 'secrets';
  if (configMapNames(spec).length > 0) return 'configmaps';
  if ((spec.resourceClaims ?? []).length > 0) return 'resourceclaims';
  for (const volume of spec.volumes ?? []) {
    const referenced = referencedByVolume(volume);
    if (referenced !== undefined) return referenced;
  }
  return undefined;
}

function referencedByVolume(volume: Volume): string | undefined {
  if (volume.configMap) return 'configmaps (via configmap volumes)';
  if (volume.secret) return 'secrets (via secret volumes)';
  if (volume.csi) return 'csidrivers (via CSI volumes)';
  if (volume.glusterfs) return 'endpoints (via glusterFS volumes)';
  if (volume.persistentVolumeClaim) return 'persistentvolumeclaims';
  if (volume.ephemeral) return 'persistentvolumeclaims (via ephemeral volumes)';
  if (volume.azureFile) return 'secrets (via azureFile volumes)';
  for (const source of volume.projected?.sources ?? []) {
    if (source.configMap) return 'configmaps (via projected volumes)';
    if (source.secret) return 'secrets (via projected volumes)';
    if (source.serviceAccountToken) return 'serviceaccounts (via projected volumes)';
    if (source.clusterTrustBundle) return 'clustertrustbundles';
    if (source.podCertificate) return 'podcertificates';
  }
  return undefined;
}

// A kubelet requests tokens only on behalf of the pods it runs, and for the audiences those pods name.
import type { Authorizer } from '../../authz/authorizer.js';
import { aggregateText } from '../../machinery/field-error.js';
import { goQuote } from '../../lib/go/quote.js';
import type { KubeObject } from '../../machinery/object.js';
import type { TokenRequest } from '../../schema/generated/authentication.v1.js';
import type { PersistentVolume, PersistentVolumeClaim, Pod, Volume } from '../../schema/generated/core.v1.js';
import type { CSIDriver } from '../../schema/generated/storage.v1.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes } from '../plugin.js';
import { find, missing } from './refuse.js';

export async function restrictToken(
  authorizer: Authorizer,
  node: string,
  attributes: AdmissionAttributes,
): Promise<void> {
  const { operation, subresource, namespace, context, object } = attributes;
  if (operation !== 'CREATE' || subresource !== 'token') return;
  const { spec } = object as TokenRequest & KubeObject;
  const bound = spec.boundObjectRef;
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw forbid(attributes, 'node requested token not bound to a pod');
  }
  if (!bound.uid) throw forbid(attributes, 'node requested token with a pod binding without a uid');
  const pod = (await find(context, 'pod', namespace, bound.name)) as Pod;
  if (bound.uid !== pod.metadata.uid) {
    throw forbid(
      attributes,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (pod.spec.nodeName !== node) {
    throw forbid(attributes, 'node requested token bound to a pod scheduled on a different node');
  }
  if (context.features.enabled('ServiceAccountNodeAudienceRestriction')) {
    await restrictAudience(authorizer, attributes, spec.audiences ?? [], pod);
  }
}

async function restrictAudience(
  authorizer: Authorizer,
  attributes: AdmissionAttributes,
  audiences: readonly string[],
  pod: Pod,
): Promise<void> {
  if (audiences.length > 1) throw forbid(attributes, 'node may only request 0 or 1 audiences');
  const [audience = ''] = audiences;
  const errors: string[] = [];
  if (await podNames(attributes, pod, audience, errors)) return;
  if (errors.length > 0) {
    throw forbid(attributes, `error validating audience ${goQuote(audience)}: ${aggregateText(errors)}`);
  }
  const { user } = attributes.context;
  const { decision, evaluationError } = await authorizer.authorize({
    user,
    verb: 'request-serviceaccounts-token-audience',
    resourceRequest: true,
    apiGroup: '',
    apiVersion: 'v1',
    resource: audience,
    subresource: '',
    namespace: attributes.namespace,
    name: attributes.name,
    path: '',
  });
  if (decision === 'allow') return;
  const where = `audience ${goQuote(audience)} not found in pod spec volume`;
  throw forbid(
    attributes,
    evaluationError === undefined
      ? `${where}, ${user.name} is not authorized to request tokens for this audience`
      : `${where}, error authorizing ${user.name} to request tokens for this audience: ${evaluationError}`,
  );
}

/** A pod names audiences itself, in token volumes, or by the drivers of its other volumes. */
async function podNames(
  attributes: AdmissionAttributes,
  pod: Pod,
  audience: string,
  errors: string[],
): Promise<boolean> {
  const { lookup } = attributes.context;
  for (const volume of pod.spec.volumes ?? []) {
    const tokens = (volume.projected?.sources ?? []).map((source) => source.serviceAccountToken);
    if (tokens.some((token) => token && (token.audience ?? '') === audience)) return true;
    const driver = await driverOf(attributes, pod, volume, errors);
    if (driver === undefined || driver === '') continue;
    const found = await lookup.get({ group: 'storage.k8s.io', resource: 'csidrivers' }, '', driver);
    if (found === undefined) errors.push(missing('csidriver.storage.k8s.io', driver));
    else if (((found as CSIDriver).spec.tokenRequests ?? []).some((one) => one.audience === audience)) return true;
  }
  return false;
}

/** The drivers that now serve volumes of types that once had a driver in Kubernetes itself. */
const MIGRATED: Partial<Record<keyof Volume & keyof PersistentVolume['spec'], string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

const migratedDriver = (source: Volume | PersistentVolume['spec']): string | undefined =>
  Object.entries(MIGRATED).find(([type]) => (source as Record<string, unknown>)[type] !== undefined)?.[1];

async function driverOf(
  attributes: AdmissionAttributes,
  pod: Pod,
  volume: Volume,
  errors: string[],
): Promise<string | undefined> {
  if (volume.ephemeral?.volumeClaimTemplate) {
    return driverOfClaim(attributes, `${pod.metadata.name ?? ''}-${volume.name}`, errors);
  }
  if (volume.persistentVolumeClaim) return driverOfClaim(attributes, volume.persistentVolumeClaim.claimName, errors);
  return volume.csi?.driver ?? migratedDriver(volume);
}

async function driverOfClaim(
  { context, namespace }: AdmissionAttributes,
  name: string,
  errors: string[],
): Promise<string | undefined> {
  const claims = { group: '', resource: 'persistentvolumeclaims' };
  const claim = (await context.lookup.get(claims, namespace, name)) as PersistentVolumeClaim | undefined;
  if (claim === undefined) {
    errors.push(missing('persistentvolumeclaim', name));
    return undefined;
  }
  const volumeName = claim.spec.volumeName ?? '';
  const volumes = { group: '', resource: 'persistentvolumes' };
  const volume = (await context.lookup.get(volumes, '', volumeName)) as PersistentVolume | undefined;
  if (volume === undefined) {
    errors.push(missing('persistentvolume', volumeName));
    return undefined;
  }
  return volume.spec.csi?.driver ?? migratedDriver(volume.spec);
}

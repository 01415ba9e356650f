// What a pod's spec refers to, as far as its node must read it.
import type { Container, EphemeralContainer, Pod, PodSpec, Volume } from '../../schema/generated/core.v1.js';
import { type ObjectKey, objectKey } from './graph.js';

export const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

export function referencesOf(pod: Readonly<Pod>): Set<ObjectKey> {
  const { namespace = '', annotations } = pod.metadata;
  const references = new Set<ObjectKey>();
  // A node makes its own mirror pods. It must not gain the sight of anything by them.
  if (annotations?.[MIRROR_ANNOTATION] !== undefined) return references;
  const { spec, status } = pod;
  if (spec.serviceAccountName) references.add(objectKey('serviceaccount', namespace, spec.serviceAccountName));
  for (const name of secretNames(spec)) references.add(objectKey('secret', namespace, name));
  for (const name of configMapNames(spec)) references.add(objectKey('configmap', namespace, name));
  for (const name of volumeClaimNames(pod)) references.add(objectKey('pvc', namespace, name));
  for (const name of resourceClaimNames(pod)) references.add(objectKey('resourceclaim', namespace, name));
  const extended = status?.extendedResourceClaimStatus?.resourceClaimName;
  if (extended) references.add(objectKey('resourceclaim', namespace, extended));
  return references;
}

/** Names of secrets; empty ones are left out, some may come twice. */
export function secretNames(spec: Readonly<PodSpec>): string[] {
  return defined([
    ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
    ...containersOf(spec).flatMap(({ envFrom = [], env = [] }) => [
      ...envFrom.map(({ secretRef }) => secretRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(secretsOfVolume),
  ]);
}

function secretsOfVolume(volume: Readonly<Volume>): (string | undefined)[] {
  const { projected } = volume;
  return [
    volume.azureFile?.secretName,
    volume.cephfs?.secretRef?.name,
    volume.cinder?.secretRef?.name,
    volume.flexVolume?.secretRef?.name,
    volume.rbd?.secretRef?.name,
    volume.secret?.secretName,
    volume.scaleIO?.secretRef?.name,
    volume.iscsi?.secretRef?.name,
    volume.storageos?.secretRef?.name,
    volume.csi?.nodePublishSecretRef?.name,
    ...(projected?.sources ?? []).map(({ secret }) => secret?.name),
  ];
}

export function configMapNames(spec: Readonly<PodSpec>): string[] {
  return defined([
    ...containersOf(spec).flatMap(({ envFrom = [], env = [] }) => [
      ...envFrom.map(({ configMapRef }) => configMapRef?.name),
      ...env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name),
    ]),
    ...(spec.volumes ?? []).flatMap(({ configMap, projected }) => [
      configMap?.name,
      ...(projected?.sources ?? []).map((source) => source.configMap?.name),
    ]),
  ]);
}

/** The claim of an ephemeral volume is named after the pod and the volume. */
const volumeClaimNames = ({ metadata, spec }: Readonly<Pod>): string[] =>
  defined(
    (spec.volumes ?? []).map(({ name, persistentVolumeClaim, ephemeral }) => {
      if (persistentVolumeClaim !== undefined) return persistentVolumeClaim.claimName;
      return ephemeral === undefined ? undefined : `${metadata.name ?? ''}-${name}`;
    }),
  );

/** The claim made from a template is named in the status, once it is made. */
const resourceClaimNames = ({ spec, status }: Readonly<Pod>): string[] =>
  defined(
    (spec.resourceClaims ?? []).map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
      if (resourceClaimName !== undefined) return resourceClaimName;
      if (resourceClaimTemplateName === undefined) return undefined;
      return (status?.resourceClaimStatuses ?? []).find((made) => made.name === name)?.resourceClaimName;
    }),
  );

const containersOf = (spec: Readonly<PodSpec>): (Container | EphemeralContainer)[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...(spec.ephemeralContainers ?? []),
];

const defined = (names: readonly (string | undefined)[]): string[] =>
  names.filter((name): name is string => name !== undefined && name !== '');

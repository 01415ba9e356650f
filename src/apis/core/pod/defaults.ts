import type { FeatureGates } from '../../../registry/kind.js';
import { formatQuantity, parseQuantity, scaledValue } from '../../../machinery/quantity.js';
import type {
  ContainerStatus,
  HTTPGetAction,
  Pod,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceList,
  ResourceRequirements,
  Volume,
} from '../../../schema/generated/core.v1.js';
import { aggregateContainers } from './aggregate-resources.js';
import { type AnyContainer, allContainers } from './containers.js';
import { meansLatestImage } from './image-name.js';
import { isHugePages, isOvercommitAllowed, isPodLevelResource } from './validation/resource-names.js';

const FILE_MODE = 0o644;
const TOKEN_SECONDS = 3600;
const GRACE_PERIOD_SECONDS = 30;

/** Annotations init containers were written as before they were fields. */
const INIT_CONTAINER_ANNOTATIONS = [
  'pod.beta.kubernetes.io/init-containers',
  'pod.alpha.kubernetes.io/init-containers',
  'pod.beta.kubernetes.io/init-container-statuses',
  'pod.alpha.kubernetes.io/init-container-statuses',
];

export function defaultPod(pod: Pod, features: FeatureGates): void {
  const { spec, status } = pod;
  for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
    requestLimits(container.resources);
  }
  if (features.enabled('PodLevelResources')) defaultPodResources(spec);
  spec.enableServiceLinks ??= true;
  // Templates leave host ports open: a pod made from one gets them.
  if (spec.hostNetwork) {
    for (const container of [...(spec.containers ?? []), ...(spec.initContainers ?? [])]) {
      for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
    }
  }
  defaultPodSpec(spec);
  defaultImageVolumes(spec, features);
  // A negative time means the shortest.
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
  dropInitContainerAnnotations(pod.metadata);
  if (status) {
    for (const member of ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'] as const) {
      for (const each of status[member] ?? []) roundStatus(each);
    }
    // The single address is the older field; an old node that sets only it means it.
    const { podIP } = status;
    if (podIP && podIP !== status.podIPs?.[0]?.ip) status.podIPs = [{ ip: podIP }];
    else if (status.podIPs?.[0]?.ip) status.podIP = status.podIPs[0].ip;
  }
}

export function defaultPodTemplate(template: PodTemplateSpec): void {
  defaultPodSpec(template.spec);
  dropInitContainerAnnotations(template.metadata);
}

/** What gates have filled in of a template. */
export function defaultTemplateBehindGates({ spec }: PodTemplateSpec, features: FeatureGates): void {
  defaultImageVolumes(spec, features);
}

function defaultPodSpec(spec: PodSpec): void {
  spec.dnsPolicy ||= 'ClusterFirst';
  spec.restartPolicy ||= 'Always';
  spec.securityContext ??= {};
  spec.terminationGracePeriodSeconds ??= GRACE_PERIOD_SECONDS;
  spec.schedulerName ||= 'default-scheduler';
  aliasServiceAccount(spec);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of allContainers(spec)) defaultContainer(container);
  roundQuantities(spec.overhead);
  roundRequirements(spec.resources);
}

/** `serviceAccount` is an older name of the same member and always says the same. */
export function aliasServiceAccount(spec: PodSpec): void {
  const name = spec.serviceAccountName || spec.serviceAccount;
  if (!name) return;
  spec.serviceAccountName = name;
  spec.serviceAccount = name;
}

/** Fractions of a thousandth are rounded up: nothing smaller is ever given out. */
export function roundQuantities(list: ResourceList | undefined): void {
  if (list === undefined) return;
  for (const name of Object.keys(list)) {
    const quantity = parseQuantity(list[name] ?? '');
    if (quantity.exponent >= -3) continue;
    const { format } = quantity;
    list[name] = formatQuantity({ unscaled: scaledValue(quantity, -3), exponent: -3, format });
  }
}

/** What is limited is also requested, unless less is. */
function requestLimits(resources: ResourceRequirements): void {
  const { limits, requests } = resources;
  if (limits === undefined) return;
  // hot: mostly both name the same.
  if (requests !== undefined && Object.keys(limits).every((name) => Object.hasOwn(requests, name))) return;
  resources.requests = { ...limits, ...requests };
}

export function defaultPodResources(spec: PodSpec): void {
  const { resources } = spec;
  if (resources === undefined || (!resources.limits && !resources.requests)) return;
  for (const [name, limit] of Object.entries(aggregateContainers(spec, 'limits'))) {
    if (!isHugePages(name) || resources.requests?.[name] !== undefined) continue;
    resources.limits = { [name]: limit, ...resources.limits };
  }
  if (!resources.limits) return;
  const requests: ResourceList = {};
  for (const [name, request] of Object.entries(aggregateContainers(spec, 'requests'))) {
    if (isPodLevelResource(name) && isOvercommitAllowed(name)) requests[name] = request;
  }
  for (const [name, limit] of Object.entries(resources.limits)) {
    if (isPodLevelResource(name)) requests[name] ??= limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = { ...requests, ...resources.requests };
}

function defaultContainer(container: AnyContainer): void {
  container.imagePullPolicy ||= meansLatestImage(container.image ?? '') ? 'Always' : 'IfNotPresent';
  container.terminationMessagePath ||= '/dev/termination-log';
  container.terminationMessagePolicy ||= 'File';
  for (const port of container.ports ?? []) port.protocol ||= 'TCP';
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.fieldRef) valueFrom.fieldRef.apiVersion ||= 'v1';
    if (valueFrom?.fileKeyRef) valueFrom.fileKeyRef.optional ??= false;
  }
  roundRequirements(container.resources);
  defaultProbe(container.livenessProbe);
  defaultProbe(container.readinessProbe);
  defaultProbe(container.startupProbe);
  defaultHttpGet(container.lifecycle?.postStart?.httpGet);
  defaultHttpGet(container.lifecycle?.preStop?.httpGet);
}

function defaultProbe(probe: Probe | undefined): void {
  if (probe === undefined) return;
  probe.timeoutSeconds ||= 1;
  probe.periodSeconds ||= 10;
  probe.successThreshold ||= 1;
  probe.failureThreshold ||= 3;
  defaultHttpGet(probe.httpGet);
  if (probe.grpc) probe.grpc.service ??= '';
}

function defaultHttpGet(action: HTTPGetAction | undefined): void {
  if (action === undefined) return;
  action.path ||= '/';
  action.scheme ||= 'HTTP';
}

function defaultVolume(volume: Volume): void {
  const { name: _, ...sources } = volume;
  if (Object.values(sources).every((source) => source === undefined)) volume.emptyDir = {};
  const { hostPath, secret, configMap, downwardAPI, projected, ephemeral } = volume;
  if (hostPath) hostPath.type ??= '';
  if (secret) secret.defaultMode ??= FILE_MODE;
  if (configMap) configMap.defaultMode ??= FILE_MODE;
  if (downwardAPI) downwardAPI.defaultMode ??= FILE_MODE;
  if (projected) projected.defaultMode ??= FILE_MODE;
  for (const { fieldRef } of downwardAPI?.items ?? []) if (fieldRef) fieldRef.apiVersion ||= 'v1';
  for (const source of projected?.sources ?? []) {
    for (const { fieldRef } of source.downwardAPI?.items ?? []) if (fieldRef) fieldRef.apiVersion ||= 'v1';
    if (source.serviceAccountToken) source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS;
  }
  if (ephemeral?.volumeClaimTemplate) {
    const { spec } = ephemeral.volumeClaimTemplate;
    spec.volumeMode ??= 'Filesystem';
    roundRequirements(spec.resources);
  }
  defaultNetworkDisk(volume);
}

function defaultImageVolumes({ volumes }: PodSpec, features: FeatureGates): void {
  if (volumes === undefined || !features.enabled('ImageVolume')) return;
  for (const { image } of volumes) {
    if (image) image.pullPolicy ||= meansLatestImage(image.reference ?? '') ? 'Always' : 'IfNotPresent';
  }
}

function defaultNetworkDisk({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi) iscsi.iscsiInterface ||= 'default';
  if (rbd) {
    rbd.pool ||= 'rbd';
    rbd.user ||= 'admin';
    rbd.keyring ||= '/etc/ceph/keyring';
  }
  if (azureDisk) {
    azureDisk.cachingMode ??= 'ReadWrite';
    azureDisk.fsType ??= 'ext4';
    azureDisk.readOnly ??= false;
    azureDisk.kind ??= 'Shared';
  }
  if (scaleIO) {
    scaleIO.storageMode ||= 'ThinProvisioned';
    scaleIO.fsType ||= 'xfs';
  }
}

function dropInitContainerAnnotations({ annotations }: { annotations?: Record<string, string> }): void {
  if (annotations === undefined) return;
  for (const key of INIT_CONTAINER_ANNOTATIONS) if (annotations[key] !== undefined) delete annotations[key];
}

function roundStatus(status: ContainerStatus): void {
  roundQuantities(status.allocatedResources);
  roundRequirements(status.resources);
}

function roundRequirements(resources: { limits?: ResourceList; requests?: ResourceList } | undefined): void {
  roundQuantities(resources?.limits);
  roundQuantities(resources?.requests);
}

// The baseline level: what keeps a pod from known ways to gain privileges. In the order they are reported.
import { allContainers } from '../../apis/core/pod/containers.js';
import { goQuote } from '../../lib/go/quote.js';
import type { LifecycleHandler, Probe, SELinuxOptions } from '../../schema/generated/core.v1.js';
import {
  type CheckedPod,
  containersText,
  isInUserNamespace,
  namesOfContainers,
  plural,
  quoted,
  settersText,
  sortedSet,
  type VersionedCheck,
  type Violation,
} from './check.js';
import { seccompAnnotations, seccompFields } from './seccomp.js';

export const baselineChecks: readonly VersionedCheck[] = [
  { id: 'appArmorProfile', rules: [{ sinceMinor: 0, check: appArmorProfile }] },
  { id: 'capabilities_baseline', rules: [{ sinceMinor: 0, check: capabilities }] },
  { id: 'hostNamespaces', rules: [{ sinceMinor: 0, check: hostNamespaces }] },
  { id: 'hostPathVolumes', rules: [{ sinceMinor: 0, check: hostPathVolumes }] },
  { id: 'hostPorts', rules: [{ sinceMinor: 0, check: hostPorts }] },
  {
    id: 'hostProbesAndHostLifecycle',
    rules: [
      {
        sinceMinor: 34,
        check: (pod, features) => (features.enabled('ProbeHostPodSecurityStandards') ? probeHosts(pod) : undefined),
      },
    ],
  },
  { id: 'privileged', rules: [{ sinceMinor: 0, check: privileged }] },
  {
    id: 'procMount',
    rules: [
      { sinceMinor: 0, check: (pod, features) => (isInUserNamespace(pod, features) ? undefined : procMount(pod)) },
    ],
  },
  {
    id: 'seLinuxOptions',
    rules: [
      { sinceMinor: 0, check: (pod) => seLinuxOptions(pod, SELINUX_TYPES) },
      { sinceMinor: 31, check: (pod) => seLinuxOptions(pod, [...SELINUX_TYPES, 'container_engine_t']) },
    ],
  },
  {
    id: 'seccompProfile_baseline',
    rules: [
      { sinceMinor: 0, check: seccompAnnotations },
      { sinceMinor: 19, check: (pod) => seccompFields(pod, false) },
    ],
  },
  {
    id: 'sysctls',
    rules: [0, 27, 29, 32].map((minor) => ({ sinceMinor: minor, check: (pod) => sysctls(pod, minor) })),
  },
  { id: 'windowsHostProcess', rules: [{ sinceMinor: 0, check: windowsHostProcess }] },
];

const APPARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const APPARMOR_TYPES = ['RuntimeDefault', 'Localhost'];

function appArmorProfile(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.appArmorProfile?.type;
  const wrong = (type: string | undefined): boolean => type !== undefined && !APPARMOR_TYPES.includes(type);
  const containers = allContainers(pod.spec).filter(({ securityContext }) =>
    wrong(securityContext?.appArmorProfile?.type),
  );
  const annotations = Object.entries(pod.metadata?.annotations ?? {})
    .filter(([key, value]) => key.startsWith(APPARMOR_PREFIX) && !isAppArmorDefault(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort();
  const types = containers.map(({ securityContext }) => securityContext?.appArmorProfile?.type ?? '');
  const values = [...sortedSet(wrong(ofPod) ? [ofPod ?? '', ...types] : types), ...annotations];
  if (values.length === 0) return undefined;
  const setters = [
    settersText(
      wrong(ofPod),
      containers.map(({ name }) => name),
    ),
    annotations.length > 0 ? plural('annotation', annotations.length) : '',
  ].filter((text) => text !== '');
  return {
    reason: plural('forbidden AppArmor profile', values.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

const isAppArmorDefault = (value: string): boolean =>
  value === '' || value === 'runtime/default' || value.startsWith('localhost/');

const CAPABILITIES = [
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
];

function capabilities(pod: CheckedPod): Violation | undefined {
  const added = (container: ReturnType<typeof allContainers>[number]): string[] =>
    (container.securityContext?.capabilities?.add ?? []).filter((name) => !CAPABILITIES.includes(name));
  const containers = namesOfContainers(pod, (container) => added(container).length > 0);
  if (containers.length === 0) return undefined;
  const names = sortedSet(allContainers(pod.spec).flatMap(added));
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(containers)} must not include ${quoted(names)} in securityContext.capabilities.add`,
  };
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((member) => spec[member]);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((member) => `${member}=true`).join(', ') };
}

function hostPathVolumes({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: 'hostPath volumes', detail: `${plural('volume', names.length)} ${quoted(names)}` };
}

function hostPorts(pod: CheckedPod): Violation | undefined {
  const used = (container: ReturnType<typeof allContainers>[number]): string[] =>
    (container.ports ?? []).flatMap(({ hostPort }) => (hostPort ? [String(hostPort)] : []));
  const containers = namesOfContainers(pod, (container) => used(container).length > 0);
  if (containers.length === 0) return undefined;
  const ports = sortedSet(allContainers(pod.spec).flatMap(used));
  const use = `${containers.length === 1 ? 'uses' : 'use'} ${plural('hostPort', ports.length)}`;
  return { reason: 'hostPort', detail: `${containersText(containers)} ${use} ${ports.join(', ')}` };
}

/** A probe of another host makes the kubelet reach where the pod may not. */
function probeHosts(pod: CheckedPod): Violation | undefined {
  const hostsOf = (handler: Probe | LifecycleHandler | undefined): string[] =>
    [handler?.httpGet?.host ?? '', handler?.tcpSocket?.host ?? ''].filter((host) => host !== '');
  const all = (container: ReturnType<typeof allContainers>[number]): string[] => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container;
    return [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop].flatMap(hostsOf);
  };
  const containers = sortedSet(namesOfContainers(pod, (container) => all(container).length > 0));
  if (containers.length === 0) return undefined;
  const hosts = sortedSet(allContainers(pod.spec).flatMap(all));
  const use = `${containers.length === 1 ? 'uses' : 'use'} ${plural('probe or lifecycle host', hosts.length)}`;
  return { reason: 'probe or lifecycle host', detail: `${containersText(containers)} ${use} ${quoted(hosts)}` };
}

function privileged(pod: CheckedPod): Violation | undefined {
  const containers = namesOfContainers(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (containers.length === 0) return undefined;
  const detail = `${containersText(containers)} must not set securityContext.privileged=true`;
  return { reason: 'privileged', detail };
}

function procMount(pod: CheckedPod): Violation | undefined {
  const other = (container: ReturnType<typeof allContainers>[number]): string[] => {
    const mount = container.securityContext?.procMount;
    return mount === undefined || mount === 'Default' ? [] : [mount];
  };
  const containers = namesOfContainers(pod, (container) => other(container).length > 0);
  if (containers.length === 0) return undefined;
  const types = sortedSet(allContainers(pod.spec).flatMap(other));
  const detail = `${containersText(containers)} must not set securityContext.procMount to ${quoted(types)}`;
  return { reason: 'procMount', detail };
}

const SELINUX_TYPES = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

function seLinuxOptions(pod: CheckedPod, allowed: readonly string[]): Violation | undefined {
  const wrong = (options: SELinuxOptions | undefined): boolean =>
    options !== undefined && (!allowed.includes(options.type ?? '') || !!options.user || !!options.role);
  const ofPod = pod.spec.securityContext?.seLinuxOptions;
  const containers = allContainers(pod.spec).filter(({ securityContext }) => wrong(securityContext?.seLinuxOptions));
  if (!wrong(ofPod) && containers.length === 0) return undefined;
  const options = [ofPod, ...containers.map(({ securityContext }) => securityContext?.seLinuxOptions)];
  const types = sortedSet(options.map((one) => one?.type ?? '').filter((type) => !allowed.includes(type)));
  const what = [
    ...(types.length > 0 ? [`${plural('type', types.length)} ${quoted(types)}`] : []),
    ...(options.some((one) => one?.user) ? ['user may not be set'] : []),
    ...(options.some((one) => one?.role) ? ['role may not be set'] : []),
  ];
  const setters = settersText(
    wrong(ofPod),
    containers.map(({ name }) => name),
  );
  const detail = `${setters} set forbidden securityContext.seLinuxOptions: ${what.join('; ')}`;
  return { reason: 'seLinuxOptions', detail };
}

/** Settings that stay within the pod, with the minor version that let them in. */
const SYSCTLS: Readonly<Record<string, number | undefined>> = {
  'kernel.shm_rmid_forced': 0,
  'net.ipv4.ip_local_port_range': 0,
  'net.ipv4.tcp_syncookies': 0,
  'net.ipv4.ping_group_range': 0,
  'net.ipv4.ip_unprivileged_port_start': 0,
  'net.ipv4.ip_local_reserved_ports': 27,
  'net.ipv4.tcp_keepalive_time': 29,
  'net.ipv4.tcp_fin_timeout': 29,
  'net.ipv4.tcp_keepalive_intvl': 29,
  'net.ipv4.tcp_keepalive_probes': 29,
  'net.ipv4.tcp_rmem': 32,
  'net.ipv4.tcp_wmem': 32,
};

function sysctls({ spec }: CheckedPod, minor: number): Violation | undefined {
  const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
  const wrong = names.filter((name) => (Object.hasOwn(SYSCTLS, name) ? (SYSCTLS[name] ?? 0) : Infinity) > minor);
  return wrong.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: wrong.join(', ') };
}

function windowsHostProcess(pod: CheckedPod): Violation | undefined {
  const ofPod = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const containers = namesOfContainers(
    pod,
    ({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true,
  );
  if (!ofPod && containers.length === 0) return undefined;
  const detail = `${settersText(ofPod, containers)} must not set securityContext.windowsOptions.hostProcess=true`;
  return { reason: 'hostProcess', detail };
}

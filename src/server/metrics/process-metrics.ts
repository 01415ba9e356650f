// What the process itself uses, under the names every Prometheus client exports.
import { processorMs } from '../../lib/scheduling/processor-time.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { VersionInfo } from '../../machinery/version-info.js';
import { processFacts } from './proc.js';

export function registerProcessMetrics(registry: MetricRegistry): void {
  const gauge = (name: string, help: string, across?: 'max' | 'min') =>
    registry.gauge({ name, help, stability: 'ALPHA', ...(across !== undefined && { across }) }).with();
  const counter = (name: string, help: string, across?: 'max') =>
    registry.counter({ name, help, stability: 'ALPHA', ...(across !== undefined && { across }) }).with();
  const cpu = counter('process_cpu_seconds_total', 'Seconds of processor time used.');
  const received = counter('process_network_receive_bytes_total', 'Bytes that came in over the network.', 'max');
  const sent = counter('process_network_transmit_bytes_total', 'Bytes that went out over the network.', 'max');
  const resident = gauge('process_resident_memory_bytes', 'Bytes of memory in use.');
  const virtual = gauge('process_virtual_memory_bytes', 'Bytes of address space in use.');
  const maxVirtual = gauge('process_virtual_memory_max_bytes', 'Bytes of address space there may be.', 'max');
  const openFiles = gauge('process_open_fds', 'Open file descriptors.');
  const maxOpenFiles = gauge('process_max_fds', 'File descriptors that may be open.');
  gauge('process_start_time_seconds', 'When the process started, in seconds since the epoch.', 'min').set(
    Math.round(performance.timeOrigin / 10) / 100,
  );
  registry.onCollect(() => {
    const facts = processFacts();
    cpu.value = processorMs() / 1000;
    resident.set(process.memoryUsage.rss());
    virtual.set(facts.virtualBytes);
    maxVirtual.set(facts.maxVirtualBytes);
    openFiles.set(facts.openFiles);
    maxOpenFiles.set(facts.maxOpenFiles);
    received.value = facts.receivedBytes;
    sent.value = facts.sentBytes;
  });
}

/** What was built, and what its registry says of itself. */
export function registerBuildMetrics(registry: MetricRegistry, version: VersionInfo): void {
  registerRegistryMetrics(registry);
  const build = registry.gauge({
    name: 'kubernetes_build_info',
    across: 'max',
    help: 'What was built, from what; the value is always 1.',
    labels: BUILD_LABELS.map(([label]) => label),
    stability: 'ALPHA',
  });
  build.with(...BUILD_LABELS.map(([, member]) => version[member] ?? '')).set(1);
}

/** What the registry says of itself. */
function registerRegistryMetrics(registry: MetricRegistry): void {
  const registered = registry.counter({
    name: 'registered_metrics_total',
    across: 'max',
    help: 'Metrics there are, by stability and the release that deprecated them.',
    labels: ['stability_level', 'deprecated_version'],
    stability: 'BETA',
  });
  const disabled = registry.counter({
    name: 'disabled_metrics_total',
    across: 'max',
    help: 'Disabled metrics.',
    stability: 'BETA',
  });
  const hidden = registry.counter({
    name: 'hidden_metrics_total',
    across: 'max',
    help: 'Metrics hidden by age.',
    stability: 'BETA',
  });
  const unexpected = registry.counter({
    name: 'cardinality_enforcement_unexpected_categorizations_total',
    help: 'Label values that were counted under another because they are not allowed.',
    stability: 'ALPHA',
  });
  registry.onCollect(() => {
    const counts = registry.counts();
    for (const [stability, count] of counts.registered) registered.with(stability, '').value = count;
    disabled.with().value = counts.disabled;
    hidden.with().value = counts.hidden;
    unexpected.with().value = counts.unexpectedLabels;
  });
}

/** For the listener to call on every failed handshake. */
export function tlsErrorCounter(registry: MetricRegistry): () => void {
  const errors = registry.counter({
    name: 'apiserver_tls_handshake_errors_total',
    help: 'TLS handshakes that failed.',
    stability: 'ALPHA',
  });
  return () => errors.with().inc();
}

const BUILD_LABELS: readonly (readonly [label: string, member: keyof VersionInfo])[] = [
  ['major', 'major'],
  ['minor', 'minor'],
  ['git_version', 'gitVersion'],
  ['git_commit', 'gitCommit'],
  ['git_tree_state', 'gitTreeState'],
  ['build_date', 'buildDate'],
  ['go_version', 'goVersion'],
  ['compiler', 'compiler'],
  ['platform', 'platform'],
];

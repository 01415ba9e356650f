// What the process itself uses, under the names every Prometheus client exports.
import fs from 'node:fs';
import type { MetricRegistry } from '../lib/metrics.js';
import type { VersionInfo } from '../machinery/version-info.js';

export function registerProcessMetrics(registry: MetricRegistry, version: VersionInfo): void {
  const gauge = (name: string, help: string) => registry.gauge({ name, help, stability: 'ALPHA' }).with();
  const cpu = registry.counter({
    name: 'process_cpu_seconds_total',
    help: 'Seconds of processor time used.',
    stability: 'ALPHA',
  });
  const resident = gauge('process_resident_memory_bytes', 'Bytes of memory in use.');
  const openFiles = gauge('process_open_fds', 'Open file descriptors.');
  gauge('process_start_time_seconds', 'When the process started, in seconds since the epoch.').set(
    Math.round(performance.timeOrigin / 10) / 100,
  );
  registry.onCollect(() => {
    const { user, system } = process.cpuUsage();
    cpu.with().value = (user + system) / 1e6;
    resident.set(process.memoryUsage.rss());
    openFiles.set(countOpenFiles());
  });
  const build = registry.gauge({
    name: 'kubernetes_build_info',
    help: 'What was built, from what; the value is always 1.',
    labels: BUILD_LABELS.map(([label]) => label),
    stability: 'ALPHA',
  });
  build.with(...BUILD_LABELS.map(([, member]) => version[member] ?? '')).set(1);
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

function countOpenFiles(): number {
  try {
    return fs.readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

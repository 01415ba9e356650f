// What an etcd answers beside gRPC: /health, /version and /metrics.
import type { HttpHandler, HttpResponse } from '../lib/http/http.js';
import type { Mvcc } from '../kv/embedded/mvcc.js';
import type { SpaceAlarm } from './space-alarm.js';
import { ETCD_VERSION } from './services/maintenance.js';

export interface PathParts {
  readonly mvcc: Mvcc;
  readonly alarm: SpaceAlarm;
  readonly isHealthy: () => Promise<boolean>;
}

export function httpPaths({ mvcc, alarm, isHealthy }: PathParts): HttpHandler {
  return async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return text(405, 'Method Not Allowed\n');
    switch (request.path) {
      case '/health':
        return health(alarm, await isHealthy());
      case '/livez':
      case '/readyz':
        return (await isHealthy()) ? text(200, 'ok') : text(503, 'the store cannot be read or written\n');
      case '/version':
        return json(200, { etcdserver: ETCD_VERSION, etcdcluster: '3.5.0' });
      case '/metrics':
        return metrics(mvcc);
      default:
        return text(404, '404 page not found\n');
    }
  };
}

/** In etcd's words: who asks for it may compare them. */
function health(alarm: SpaceAlarm, isHealthy: boolean): HttpResponse {
  if (alarm.isRaised) return json(503, { health: 'false', reason: 'ALARM NOSPACE' });
  return isHealthy ? json(200, { health: 'true', reason: '' }) : json(503, { health: 'false', reason: 'RANGE ERROR' });
}

function metrics(mvcc: Mvcc): HttpResponse {
  const { bytes, usedBytes } = mvcc.size();
  const gauges: readonly (readonly [name: string, help: string, value: number])[] = [
    ['etcd_server_has_leader', 'Whether or not a leader exists. 1 is existence, 0 is not.', 1],
    ['etcd_server_is_leader', 'Whether or not this member is a leader. 1 if is, 0 otherwise.', 1],
    ['etcd_server_quota_backend_bytes', 'How large the store may grow, in bytes.', mvcc.quotaBytes],
    ['etcd_mvcc_db_total_size_in_bytes', 'The size of the file of the store.', bytes],
    ['etcd_mvcc_db_total_size_in_use_in_bytes', 'How much of the file of the store is in use.', usedBytes],
    ['etcd_debugging_mvcc_current_revision', 'The newest revision of the store.', mvcc.revision],
    ['etcd_debugging_mvcc_compact_revision', 'The revision that the store was last compacted to.', mvcc.compacted],
    ['etcd_debugging_lease_total', 'How many leases there are.', mvcc.leases.size],
    ['process_resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()],
  ];
  const lines = gauges.map(([name, help, value]) => {
    const shown = value === Infinity ? '+Inf' : String(value);
    return `# HELP ${name} ${help}\n# TYPE ${name} gauge\n${name} ${shown}\n`;
  });
  return { ...text(200, lines.join('')), headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } };
}

const text = (status: number, body: string): HttpResponse => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body,
});

const json = (status: number, value: object): HttpResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
});

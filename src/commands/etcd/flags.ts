// etcd's flags, as far as they mean something for one member without Raft.
import { defineTopic } from '../../options/flag-table.js';
import { readFlags } from '../read-flags.js';

const UNUSED = 'Accepted, and not used: there is one member, and no Raft.';

export const etcdFlags = defineTopic({
  key: 'etcd',
  title: 'etcd',
  flags: {
    name: { type: 'string', default: 'default', help: 'The name of the member.' },
    'data-dir': { type: 'string', help: 'The data folder; NAME.etcd by default.' },
    'listen-client-urls': {
      type: 'strings',
      default: ['http://localhost:2379'],
      help: 'Where clients are served: http://IP:PORT, https://IP:PORT, unix://PATH or unixs://PATH. Port 0 is a free one.',
    },
    'advertise-client-urls': { type: 'strings', help: 'What clients that ask for the members get to know.' },
    'listen-metrics-urls': {
      type: 'strings',
      help: 'Where /health, /metrics and /version are served as well, without certificates for http.',
    },
    'cert-file': { type: 'string', help: "The server's certificate, for https and unixs." },
    'key-file': { type: 'string', help: 'The key of the certificate.' },
    'trusted-ca-file': {
      type: 'string',
      help: 'The authorities of client certificates; with it clients must have one.',
    },
    'client-cert-auth': { type: 'bool', help: 'Clients must have a certificate.' },
    'unsafe-no-fsync': { type: 'bool', help: 'Answer writes before they are on disk. For tests alone.' },
    'quota-backend-bytes': {
      type: 'int',
      help: 'How large the store may grow before writes are refused; 0 is 2 GiB, below 0 there is no limit.',
    },
    'auto-compaction-mode': {
      type: 'string',
      default: 'periodic',
      help: 'What --auto-compaction-retention counts: time (periodic) or revisions (revision).',
    },
    'auto-compaction-retention': {
      type: 'string',
      default: '0',
      help: 'How much history is kept: hours, a duration such as 5m, or revisions. 0 keeps it until a client compacts.',
    },
    'max-request-bytes': { type: 'uint', default: 1_572_864, help: 'The largest request of a client.' },
    'max-txn-ops': { type: 'uint', default: 128, help: 'The most operations of a transaction.' },
    'watch-progress-notify-interval': {
      type: 'duration',
      default: 600_000,
      help: 'When a watch without events hears how far it is, if it wants to.',
    },
    'experimental-watch-progress-notify-interval': {
      type: 'duration',
      default: 600_000,
      help: 'The same by its earlier name.',
    },
    'log-level': { type: 'string', default: 'info', help: 'debug, info, warn, error, panic or fatal.' },
    logger: {
      type: 'string',
      default: 'zap',
      help: 'zap, which writes JSON; text for lines as the API server has them.',
    },
    'log-outputs': { type: 'strings', default: ['default'], help: 'default, stderr or stdout.' },
    'log-format': { type: 'string', default: 'json', help: 'json, or console for lines as the API server has them.' },
    version: { type: 'bool', help: 'Print the version of etcd whose API this is, and end.' },
    'listen-peer-urls': { type: 'strings', help: UNUSED },
    'initial-advertise-peer-urls': { type: 'strings', help: UNUSED },
    'initial-cluster': { type: 'string', help: UNUSED },
    'initial-cluster-state': { type: 'string', help: UNUSED },
    'initial-cluster-token': { type: 'string', help: UNUSED },
    'peer-cert-file': { type: 'string', help: UNUSED },
    'peer-key-file': { type: 'string', help: UNUSED },
    'peer-trusted-ca-file': { type: 'string', help: UNUSED },
    'peer-client-cert-auth': { type: 'bool', help: UNUSED },
    'heartbeat-interval': { type: 'uint', help: UNUSED },
    'election-timeout': { type: 'uint', help: UNUSED },
    'snapshot-count': { type: 'uint', help: UNUSED },
    'max-snapshots': { type: 'uint', help: UNUSED },
    'max-wals': { type: 'uint', help: UNUSED },
    'wal-dir': { type: 'string', help: UNUSED },
    'strict-reconfig-check': { type: 'bool', help: UNUSED },
    'pre-vote': { type: 'bool', help: UNUSED },
    'experimental-initial-corrupt-check': { type: 'bool', help: UNUSED },
    'feature-gates': { type: 'string', help: UNUSED },
  },
});
export type EtcdFlags = ReturnType<typeof readEtcdFlags>;

/**
 * The command line, and for what it does not say the environment: ETCD_DATA_DIR is --data-dir. A single dash is as good as two,
 * as with Go's own flags.
 */
export function readEtcdFlags(args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const own = args.map((arg) => (/^-[a-z]/.test(arg) ? `-${arg}` : arg));
  const named = new Set(own.map((arg) => arg.slice(2).split('=', 1)[0] ?? ''));
  const fromEnv = Object.keys(etcdFlags.flags).flatMap((flag) => {
    const value = env[`ETCD_${flag.toUpperCase().replaceAll('-', '_')}`];
    return value === undefined || value === '' || named.has(flag) ? [] : [`--${flag}=${value}`];
  });
  const { values, setFlags } = readFlags([etcdFlags] as const, [...fromEnv, ...own]);
  return { ...values.etcd, setFlags };
}

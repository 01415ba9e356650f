import path from 'node:path';

/** Our own etcd, as a program. */
export const ownEtcd = (): string => path.resolve(process.env['BINNACLE_ROOT'] ?? '.', 'bin', 'etcd');

// Servers that share one etcd and one set of keys: a control plane of several.
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EtcdProcess, startEtcd } from '../etcd-process.js';
import { startTestServer, type TestServer, type TestServerOptions } from './server.js';

export interface ControlPlane<Etcd = EtcdProcess> {
  readonly etcd: Etcd;
  /** A folder for files that flags name. */
  readonly folder: string;
  /** Flags of one server, beside those that all have. */
  start(flags: readonly string[], hostname?: string, more?: Partial<TestServerOptions>): Promise<TestServer>;
  /** Ends all servers that were started, and etcd. */
  remove(): Promise<void>;
}

export async function startControlPlane(etcdProgram: string): Promise<ControlPlane> {
  const etcd = await startEtcd(etcdProgram);
  return controlPlaneOn({ etcd, flags: [`--etcd-servers=${etcd.url}`], removeEtcd: () => etcd.remove() });
}

/** On an etcd that runs already. */
export function controlPlaneOn<Etcd>({
  etcd,
  flags: etcdFlags,
  removeEtcd,
}: {
  readonly etcd: Etcd;
  readonly flags: readonly string[];
  readonly removeEtcd: () => Promise<void>;
}): ControlPlane<Etcd> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-control-plane-'));
  const key = path.join(folder, 'service-accounts.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const shared = [
    ...etcdFlags,
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
  ];
  const servers: TestServer[] = [];
  return {
    etcd,
    folder,
    async start(flags, hostname, more = {}) {
      const server = await startTestServer({
        flags: [...shared, ...flags],
        adminToken: 'admin-token',
        ...more,
        ...(hostname !== undefined && { hostname }),
      });
      servers.push(server);
      return server;
    },
    async remove() {
      await Promise.all(servers.map((server) => server.stop()));
      await removeEtcd();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Servers that share one etcd and one set of keys: a control plane of several.
import { generateKeyPairSync } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EtcdProcess, startEtcd } from '../etcd-process.js';
import { startTestServer, type TestServer } from './server.js';

export interface ControlPlane {
  readonly etcd: EtcdProcess;
  /** A folder for files that flags name. */
  readonly folder: string;
  /** Flags of one server, beside those that all have. */
  start(flags: readonly string[], hostname?: string, keepsConnections?: boolean): Promise<TestServer>;
  /** Ends all servers that were started, and etcd. */
  remove(): Promise<void>;
}

export async function startControlPlane(etcdProgram: string): Promise<ControlPlane> {
  const etcd = await startEtcd(etcdProgram);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-control-plane-'));
  const key = path.join(folder, 'service-accounts.key');
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  fs.writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const shared = [
    `--etcd-servers=${etcd.url}`,
    `--service-account-key-file=${key}`,
    `--service-account-signing-key-file=${key}`,
    '--service-account-issuer=https://kubernetes.default.svc',
  ];
  const servers: TestServer[] = [];
  return {
    etcd,
    folder,
    async start(flags, hostname, keepsConnections = false) {
      const server = await startTestServer({
        flags: [...shared, ...flags],
        adminToken: 'admin-token',
        keepsConnections,
        ...(hostname !== undefined && { hostname }),
      });
      servers.push(server);
      return server;
    },
    async remove() {
      await Promise.all(servers.map((server) => server.stop()));
      await etcd.remove();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}

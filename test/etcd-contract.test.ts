// runs-on: every-node
// The key-value contract, by our client of etcd against the embedded store behind etcd's API.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { serveEtcd } from '../src/etcd/serve.js';
import { openEmbeddedStore } from '../src/kv/embedded/embedded.js';
import { openEtcdStore } from '../src/kv/etcd/etcd.js';
import { kvContract } from '../src/kv/kv.contract.js';
import type { KeyValueStore } from '../src/kv/kv.js';
import { directDialer } from '../src/outbound/dialer.js';

describe('the embedded store behind the API of etcd', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-etcd-api-'));
  const socketPath = path.join(folder, 'socket');
  let url = '';
  let close = async (): Promise<void> => undefined;
  before(async () => {
    const store = await openEmbeddedStore({ folder: path.join(folder, 'data'), historyMs: 0 });
    const addresses = [{ host: '127.0.0.1', port: 0 }, { socketPath }];
    const onError = (error: unknown): void => console.error(error);
    const listener = await serveEtcd({ store, addresses, onError });
    url = `http://127.0.0.1:${listener.ports[0]}`;
    close = async () => {
      await listener.close(0);
      await store.close();
    };
  });
  after(async () => {
    await close();
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const open = async (server: string): Promise<KeyValueStore> => {
    const kv = openEtcdStore({ dialer: directDialer, servers: [server] });
    await kv.revision();
    return kv;
  };
  kvContract('by TCP', { open: () => open(url), close: (kv) => kv.close() });
  kvContract('by a Unix socket', { open: () => open(`unix://${socketPath}`), close: (kv) => kv.close() });
});

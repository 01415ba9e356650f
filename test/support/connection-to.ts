import fs from 'node:fs';
import path from 'node:path';
import type tls from 'node:tls';
import type { TestServer } from './server.js';

/** As the administrator whose certificate lies in its folder. */
export function connectionTo(server: TestServer): tls.ConnectionOptions {
  const pki = (name: string): Buffer => fs.readFileSync(path.join(server.folder, 'pki', name));
  const { hostname, port } = new URL(server.url);
  return { host: hostname, port: Number(port), ca: pki('ca.crt'), cert: pki('admin.crt'), key: pki('admin.key') };
}

// runs-on: every-node
// The files by which the server is known to nodes, and they to it, when they change under it.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { MetricRegistry } from '../src/lib/telemetry/metrics.js';
import { directDialer } from '../src/outbound/dialer.js';
import { buildNodeAccess } from '../src/server/outgoing/node-access.js';
import { createAuthority } from './support/certificates.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-node-access-'));
after(() => fs.rmSync(folder, { recursive: true }));

test('a renewed certificate is shown to nodes, and another authority of theirs is not trusted', async () => {
  const first = createAuthority(folder, 'first');
  const second = createAuthority(folder, 'second');
  const shown = (name: string) => first.issue(name, 'client');
  const kubelet = (authority: typeof first): Promise<https.Server> => {
    const { cert, key } = authority.issue('kubelet', 'server', { ipAddresses: ['127.0.0.1'] });
    const files = { cert: fs.readFileSync(cert), key: fs.readFileSync(key) };
    const server = https.createServer(
      { ...files, requestCert: true, rejectUnauthorized: false },
      (request, response) => {
        response.setHeader('connection', 'close');
        response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN);
      },
    );
    return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
  };
  const kubelets = [await kubelet(first), await kubelet(second)] as const;
  const one = shown('one');
  let close = (): void => undefined;
  const { kubelets: client } = buildNodeAccess(
    {
      kubeletCertificateAuthority: first.ca,
      kubeletClientCertificate: one.cert,
      kubeletClientKey: one.key,
      kubeletPort: 10250,
      kubeletPreferredAddressTypes: [],
      maxConnectionBytesPerSec: 0,
    },
    { dialer: directDialer, metrics: new MetricRegistry(), onDrained: (end) => (close = end) },
  );
  const outcome = async (server: https.Server): Promise<string> => {
    const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    try {
      const { body } = await client.request({ method: 'GET', url });
      return Buffer.concat(await body.toArray()).toString();
    } catch (error) {
      return String(error).includes('certificate signed by unknown authority') ? 'not trusted' : String(error);
    }
  };
  assert.deepEqual([await outcome(kubelets[0]), await outcome(kubelets[1])], ['one', 'not trusted']);
  const two = shown('two');
  fs.copyFileSync(two.cert, one.cert);
  fs.copyFileSync(two.key, one.key);
  fs.copyFileSync(second.ca, first.ca);
  assert.deepEqual([await outcome(kubelets[0]), await outcome(kubelets[1])], ['two', 'not trusted']);
  close();
  for (const server of kubelets) server.close();
});

import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadEgress } from './load.js';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'egress-'));
after(() => fs.rmSync(folder, { recursive: true }));

function load(version: string, ...names: readonly string[]): readonly string[] {
  const file = path.join(folder, 'egress.yaml');
  const egressSelections = names.map((name) => ({ name, connection: { proxyProtocol: 'Direct' } }));
  const content = { apiVersion: `apiserver.k8s.io/${version}`, kind: 'EgressSelectorConfiguration', egressSelections };
  fs.writeFileSync(file, JSON.stringify(content));
  return (loadEgress(file).egressSelections ?? []).map(({ name }) => name);
}

test('both versions are read, and names in any case', () => {
  assert.deepEqual(load('v1beta1', 'Cluster', 'ETCD'), ['cluster', 'etcd']);
  assert.deepEqual(load('v1alpha1', 'controlPlane'), ['controlplane']);
  assert.throws(() => load('v1', 'cluster'), /no kind "EgressSelectorConfiguration" is registered/);
});

test('a file of another kind is refused by its name', () => {
  const file = path.join(folder, 'other.yaml');
  fs.writeFileSync(file, 'apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration');
  assert.throws(() => loadEgress(file), {
    message:
      'failed to read egress selector config: unexpected config type: apiserver.config.k8s.io/v1, Kind=TracingConfiguration',
  });
});

test('the old name of the control plane is accepted in lower case only', () => {
  assert.deepEqual(load('v1beta1', 'master'), ['controlplane']);
  assert.throws(() => load('v1beta1', 'Master'), /service\.connection: Unsupported value: "master": supported values/);
});

test('a way over two transports is refused, and shown as kube-apiserver keeps it', () => {
  const file = path.join(folder, 'both.yaml');
  const tlsConfig = { caBundle: '/ca', clientKey: '/key', clientCert: '/cert' };
  const refused = (tcp: object): string => {
    const connection = { proxyProtocol: 'HTTPConnect', transport: { tcp, uds: { udsName: '/x' } } };
    const head = { apiVersion: 'apiserver.k8s.io/v1beta1', kind: 'EgressSelectorConfiguration' };
    fs.writeFileSync(file, JSON.stringify({ ...head, egressSelections: [{ name: 'cluster', connection }] }));
    try {
      loadEgress(file);
    } catch (error) {
      return /tcp: .*$/.exec(String(error))?.[0] ?? String(error);
    }
    return 'accepted';
  };
  const why = 'TCP and UDS cannot both be set';
  assert.equal(refused({ url: 'http://x' }), `tcp: Invalid value: {"URL":"http://x","TLSConfig":null}: ${why}`);
  assert.equal(
    refused({ url: 'https://x', tlsConfig }),
    `tcp: Invalid value: {"URL":"https://x","TLSConfig":{"CABundle":"/ca","ClientKey":"/key","ClientCert":"/cert"}}: ${why}`,
  );
});

import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../machinery/object.js';
import { type GroupResource, groupResourceText } from '../machinery/status.js';
import type { ClusterRole, RoleBinding } from '../schema/generated/rbac.v1.js';
import type { ClientApply, ClientUpdate, ServerClient } from '../registry/server-client.js';
import { bootstrapHooks } from './hooks.js';
import { ensureSystemPriorityClasses } from './priority-classes.js';

/** Keeps objects in memory and counts writes. */
class TestClient implements ServerClient {
  readonly objects = new Map<string, KubeObject>();
  readonly writes: string[] = [];

  key(resource: GroupResource, namespace: string, name: string): string {
    return `${groupResourceText(resource)} ${namespace}/${name}`;
  }
  async get(resource: GroupResource, namespace: string, name: string): Promise<KubeObject | undefined> {
    return this.objects.get(this.key(resource, namespace, name));
  }
  async list(resource: GroupResource): Promise<KubeObject[]> {
    const head = `${groupResourceText(resource)} `;
    return [...this.objects].flatMap(([key, object]) => (key.startsWith(head) ? [object] : []));
  }
  async create(resource: GroupResource, object: KubeObject): Promise<boolean> {
    const key = this.key(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
    if (this.objects.has(key)) return false;
    this.writes.push(`create ${key}`);
    this.objects.set(key, { ...object, metadata: { ...object.metadata, generation: 1 } });
    return true;
  }
  async update({ resource, object, change }: ClientUpdate): Promise<void> {
    const key = this.key(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
    this.writes.push(`update ${key}`);
    this.objects.set(key, change(structuredClone(this.objects.get(key) ?? object)));
  }
  async apply({ resource, object, configuration }: ClientApply): Promise<void> {
    const key = this.key(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
    this.writes.push(`apply ${key}`);
    this.objects.set(key, { ...object, ...configuration, metadata: object.metadata });
  }
  async delete(resource: GroupResource, object: KubeObject): Promise<void> {
    const key = this.key(resource, object.metadata.namespace ?? '', object.metadata.name ?? '');
    this.writes.push(`delete ${key}`);
    this.objects.delete(key);
  }
}

const OFF = new Set([
  'APIServerIdentity',
  'ClusterTrustBundle',
  'PodCertificateRequest',
  'DRADeviceTaints',
  'StorageVersionAPI',
]);

async function runAll(client: TestClient, off: ReadonlySet<string> = OFF): Promise<string[]> {
  client.writes.length = 0;
  const stop = new AbortController();
  const hooks = bootstrapHooks({
    client,
    features: { enabled: (name) => !off.has(name) },
    trust: {},
    serviceCidrs: ['10.0.0.0/24'],
    hostname: 'node-1',
    runId: 'run',
    now: () => new Date('2030-01-02T03:04:05Z'),
    log: silentLog,
  });
  await Promise.all(hooks.map((hook) => hook.run(stop.signal)));
  stop.abort();
  return client.writes;
}

const ROLES = 'clusterroles.rbac.authorization.k8s.io /';
const BINDINGS = 'clusterrolebindings.rbac.authorization.k8s.io /';

test('an empty store gets everything, and a second start writes nothing', async () => {
  const client = new TestClient();
  const first = await runAll(client);
  assert.ok(first.length > 130, `${first.length} writes`);
  for (const name of ['default', 'kube-system', 'kube-public', 'kube-node-lease']) {
    assert.ok(client.objects.has(`namespaces /${name}`));
  }
  const admin = client.objects.get(`${ROLES}cluster-admin`) as ClusterRole;
  assert.deepEqual(admin.rules, [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ]);
  assert.deepEqual(admin.metadata.annotations, { 'rbac.authorization.kubernetes.io/autoupdate': 'true' });
  assert.deepEqual(await runAll(client), []);
});

test('what was removed comes back, what was added stays, what is protected is left alone', async () => {
  const client = new TestClient();
  await runAll(client);
  const edit = <T extends KubeObject>(key: string, change: (object: T) => void) => {
    const object = structuredClone(client.objects.get(key)) as T;
    change(object);
    client.objects.set(key, object);
  };
  const own = { verbs: ['get'], apiGroups: ['example.test'], resources: ['things'] };
  edit<ClusterRole>(`${ROLES}system:kube-dns`, (role) => (role.rules = [own]));
  edit<ClusterRole>(`${ROLES}system:discovery`, (role) => {
    role.rules = [];
    role.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
  });
  edit<RoleBinding>(`${BINDINGS}system:basic-user`, (binding) => delete binding.subjects);
  edit<RoleBinding>(`${BINDINGS}system:kube-scheduler`, (binding) => (binding.roleRef.name = 'other'));
  client.objects.delete('namespaces /kube-public');
  assert.deepEqual((await runAll(client)).toSorted(), [
    `create ${BINDINGS}system:kube-scheduler`,
    'create namespaces /kube-public',
    `delete ${BINDINGS}system:kube-scheduler`,
    `update ${BINDINGS}system:basic-user`,
    `update ${ROLES}system:kube-dns`,
  ]);
  const dns = client.objects.get(`${ROLES}system:kube-dns`) as ClusterRole;
  assert.deepEqual(dns.rules?.[0], own);
  assert.equal(dns.rules?.length, 5, 'the missing rules are added one by one');
  assert.deepEqual(await runAll(client), []);
});

test('feature gates bring roles and rules', async () => {
  const client = new TestClient();
  await runAll(client, new Set());
  const scheduler = client.objects.get(`${ROLES}system:kube-scheduler`) as ClusterRole;
  assert.deepEqual(scheduler.rules?.at(-1)?.resources, ['devicetaintrules']);
  assert.ok(client.objects.has(`${BINDINGS}system:controller:podcertificaterequestcleaner`));
});

test('flow control: mandatory objects are mended, changed suggestions are kept, forgotten ones go', async () => {
  const client = new TestClient();
  await runAll(client);
  const levels = 'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io /';
  const change = (name: string, annotations: Record<string, string>) => {
    const object = structuredClone(client.objects.get(levels + name)) as KubeObject & { spec: unknown };
    object.spec = { type: 'Exempt' };
    object.metadata = { ...object.metadata, annotations, generation: 2 };
    client.objects.set(levels + name, object);
  };
  change('catch-all', { 'apf.kubernetes.io/autoupdate-spec': 'false' });
  change('system', { 'apf.kubernetes.io/autoupdate-spec': 'false' });
  change('node-high', { 'apf.kubernetes.io/autoupdate-spec': 'true' });
  const old = { metadata: { name: 'old', annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } } };
  client.objects.set(`${levels}old`, old);
  assert.deepEqual((await runAll(client)).toSorted(), [
    `delete ${levels}old`,
    `update ${levels}catch-all`,
    `update ${levels}node-high`,
  ]);
});

test('a server that cannot add its priority classes says so, and why', async () => {
  const client = new TestClient();
  client.create = () => Promise.reject(new Error('no key to encrypt it with'));
  await assert.rejects(ensureSystemPriorityClasses(client), {
    message: 'unable to add default system priority classes: no key to encrypt it with',
  });
});

// Each controller on real kinds in a store in memory, through the server's own wiring.
import { silentLog } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { rbacKinds } from '../apis/rbac/index.js';
import { configMaps } from '../apis/core/configmap/definition.js';
import { namespaces } from '../apis/core/namespace/definition.js';
import { nodes } from '../apis/core/node/definition.js';
import { pods } from '../apis/core/pod/definition.js';
import { secrets } from '../apis/core/secret/definition.js';
import { serviceAccountKind } from '../apis/core/serviceaccount/definition.js';
import { resourceQuotas } from '../apis/core/resourcequota/definition.js';
import { openMemoryStore } from '../kv/memory.js';
import { apiEnablement } from '../machinery/api-enablement.js';
import type { KubeObject, OwnerReference } from '../machinery/object.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import { forbidden } from '../machinery/status.js';
import type { UserInfo } from '../machinery/user.js';
import type { DeleteOptions, KindDefinition, LifeContext, ObjectOperations } from '../registry/kind.js';
import type { InternalWrite } from '../registry/operations.js';
import type { ControllerName } from '../options/options.js';
import type { ConfigMap, Namespace, Pod, ResourceQuota } from '../schema/generated/core.v1.js';
import type { ClusterRole } from '../schema/generated/rbac.v1.js';
import { createResourceStore } from '../storage/create-store.js';
import { ensureSelfSignedCertificate } from './listener/certificates.js';
import { startControllers } from './controllers.js';
import type { PreparedCertificates } from './listener/prepare-certificates.js';
import type { CertificateFiles } from './listener/serving-certificates.js';
import { Resources } from './kinds/resources.js';
import { pollUntil } from '../lib/testing/poll-until.js';

const core = (resource: string) => ({ group: '', resource });
const CLUSTER_ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };

class World {
  serving: CertificateFiles = { certFile: '', keyFile: '' };
  readonly stop = new AbortController();
  readonly resources: Resources;
  /** What webhooks and policies would review, and whose writes. */
  readonly reviewed: string[] = [];
  /** What they say to it. */
  review: (write: InternalWrite) => MaybePromise<void> = () => undefined;
  readonly operationsAs = ({ name: user }: UserInfo): ObjectOperations =>
    this.resources.operationsWith({
      admit: () => undefined,
      validate: (write) => {
        const { operation, registry, subresource, namespace, name } = write;
        const resource = [registry.resource.resource, subresource].filter((part) => part !== '').join('/');
        this.reviewed.push(`${user} ${operation} ${resource} ${namespace}/${name}`);
        return this.review(write);
      },
    });
  readonly context = (): LifeContext => ({
    user: { name: 'system:apiserver', groups: ['system:masters'] },
    namespace: '',
    now: () => new Date(),
    features: { enabled: () => false },
    dryRun: false,
    options: { allowPrivileged: true, eventTtlSeconds: 3600 },
    lookup: this.resources.lookup,
    warn: () => undefined,
  });

  constructor() {
    const kv = openMemoryStore();
    this.resources = new Resources({
      prefix: '/registry',
      openStore: (options) => createResourceStore({ kv, options }),
      clock: () => new Date(),
      garbageCollection: true,
      deleteCollectionWorkers: 1,
      enablement: apiEnablement({}),
    });
    const nobody = { authorize: async () => ({ decision: 'allow' as const, reason: '' }) };
    const access = { authorizer: nobody, rules: { grantsFor: async () => ({ grants: [], errors: [] }), version: 0 } };
    const kinds = [
      namespaces,
      configMaps,
      serviceAccountKind({} as never),
      nodes,
      pods,
      resourceQuotas,
      ...rbacKinds(access as never),
    ];
    for (const kind of kinds) this.resources.add(kind as KindDefinition);
  }

  start(...names: ControllerName[]): Promise<void> {
    const { resources, operationsAs, context } = this;
    const certificates = { serving: this.serving } as PreparedCertificates;
    const log = silentLog;
    const options = { names, resources, operationsAs, admittedOperationsAs: operationsAs, certificates, context, log };
    return startControllers(options, this.stop.signal);
  }

  create<T extends KubeObject>(resource: string | { group: string; resource: string }, object: T): Promise<T> {
    const where = typeof resource === 'string' ? core(resource) : resource;
    return this.resources.operations.create(
      where,
      object.metadata.namespace ?? '',
      object,
      this.context(),
    ) as Promise<T>;
  }

  async get<T extends KubeObject>(resource: string, namespace: string, name: string): Promise<T | undefined> {
    const where = resource === 'clusterroles' ? CLUSTER_ROLES : core(resource);
    return (await this.resources.lookup.get(where, namespace, name)) as T | undefined;
  }

  delete(resource: string, { metadata }: KubeObject, options: DeleteOptions = {}): Promise<KubeObject> {
    const { namespace = '', name = '' } = metadata;
    return this.resources.operations.delete({
      resource: core(resource),
      namespace,
      name,
      options,
      context: this.context(),
    });
  }

  update<T extends KubeObject>(resource: string, { metadata }: T, change: (object: T) => void): Promise<KubeObject> {
    const { namespace = '', name = '' } = metadata;
    const { operations } = this.resources;
    const changed = (object: KubeObject): KubeObject => {
      change(object as T);
      return object;
    };
    return operations.update({
      resource: core(resource),
      namespace,
      name,
      subresource: '',
      change: changed,
      context: this.context(),
    });
  }
}

const namespace = (name: string): Namespace => ({
  kind: 'Namespace',
  apiVersion: 'v1',
  metadata: { name },
  spec: {},
  status: {},
});

const configMap = (name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'n', ...more },
});

const pod = (name: string, nodeName?: string): Pod =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'n' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i',
          resources: {},
          imagePullPolicy: 'Always',
          terminationMessagePolicy: 'File',
          terminationMessagePath: '/dev/termination-log',
        },
      ],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      enableServiceLinks: true,
      schedulerName: 's',
      securityContext: {},
      ...(nodeName !== undefined && { nodeName }),
    },
    status: {},
  }) as unknown as Pod;

const ownedBy = (owner: KubeObject, blockOwnerDeletion?: boolean): { ownerReferences: OwnerReference[] } => ({
  ownerReferences: [
    {
      apiVersion: owner.apiVersion ?? '',
      kind: owner.kind ?? '',
      name: owner.metadata.name ?? '',
      uid: owner.metadata.uid ?? '',
      ...(blockOwnerDeletion !== undefined && { blockOwnerDeletion }),
    },
  ],
});

describe('controllers', () => {
  let world: World;
  beforeEach(() => (world = new World()));
  afterEach(() => {
    world.stop.abort();
    world.resources.close();
  });
  const isGone = (resource: string, in_: string, name: string) =>
    pollUntil(async () => (await world.get(resource, in_, name)) === undefined);

  describe('namespace', () => {
    it('empties a deleted namespace, pods of unknown nodes included, and lets it go', async () => {
      await world.start('namespace');
      const made = await world.create('namespaces', namespace('n'));
      await world.create('configmaps', configMap('a'));
      await world.create('pods', pod('unbound'));
      await world.create('pods', pod('bound', 'no-such-node'));
      await world.create('configmaps', { ...configMap('other'), metadata: { name: 'other', namespace: 'o' } });
      await world.delete('namespaces', made);
      await isGone('namespaces', '', 'n');
      assert.equal(await world.get('configmaps', 'n', 'a'), undefined);
      assert.equal(await world.get('pods', 'n', 'bound'), undefined);
      assert.ok(await world.get('configmaps', 'o', 'other'));
    });

    it('deletes as its service account, and waits for a webhook that lets it', async () => {
      let refusals = 0;
      world.review = ({ operation, registry }) => {
        if (operation !== 'DELETE' || refusals++ > 0) return;
        throw forbidden(registry.resource, 'a', 'not yet');
      };
      await world.start('namespace');
      const made = await world.create('namespaces', namespace('n'));
      await world.create('configmaps', configMap('a'));
      await world.delete('namespaces', made);
      await isGone('namespaces', '', 'n');
      assert.ok(refusals > 1);
      const user = 'system:serviceaccount:kube-system:namespace-controller';
      assert.ok(world.reviewed.includes(`${user} DELETE configmaps n/a`));
      assert.ok(world.reviewed.includes(`${user} UPDATE namespaces/finalize /n`));
      assert.ok(world.reviewed.every((line) => line.startsWith(`${user} `)));
    });

    it('reports what holds a namespace back, until it no longer does', async () => {
      await world.start('namespace');
      const made = await world.create('namespaces', namespace('n'));
      const held = await world.create('configmaps', configMap('a', { finalizers: ['example.test/hold'] }));
      await world.delete('namespaces', made);
      const conditions = await pollUntil(async () => {
        const { status } = (await world.get<Namespace>('namespaces', '', 'n')) ?? {};
        return status?.conditions;
      });
      assert.deepEqual(
        conditions.map(({ type, status, reason, message }) => [type, status, reason, message]),
        [
          [
            'NamespaceDeletionDiscoveryFailure',
            'False',
            'ResourcesDiscovered',
            'All resources successfully discovered',
          ],
          [
            'NamespaceDeletionGroupVersionParsingFailure',
            'False',
            'ParsedGroupVersions',
            'All legacy kube types successfully parsed',
          ],
          [
            'NamespaceDeletionContentFailure',
            'False',
            'ContentDeleted',
            'All content successfully deleted, may be waiting on finalization',
          ],
          [
            'NamespaceContentRemaining',
            'True',
            'SomeResourcesRemain',
            'Some resources are remaining: configmaps. has 1 resource instances',
          ],
          [
            'NamespaceFinalizersRemaining',
            'True',
            'SomeFinalizersRemain',
            'Some content in the namespace has finalizers remaining: example.test/hold in 1 resource instances',
          ],
        ],
      );
      await world.update('configmaps', held, ({ metadata }) => delete metadata.finalizers);
      await isGone('namespaces', '', 'n');
    });

    it('waits for pods on nodes that are there', async () => {
      await world.start('namespace');
      await world.create('nodes', {
        kind: 'Node',
        apiVersion: 'v1',
        metadata: { name: 'node-1' },
        spec: {},
        status: {},
      } as never);
      const made = await world.create('namespaces', namespace('n'));
      const bound = await world.create('pods', pod('bound', 'node-1'));
      await world.create('configmaps', configMap('used-by-it'));
      await world.delete('namespaces', made);
      await pollUntil(async () => (await world.get<Pod>('pods', 'n', 'bound'))?.metadata.deletionTimestamp);
      assert.ok(await world.get('configmaps', 'n', 'used-by-it'), 'what a running pod may use stays');
      await world.delete('pods', bound, { gracePeriodSeconds: 0 });
      await isGone('namespaces', '', 'n');
    });
  });

  describe('garbagecollector', () => {
    it('deletes what a deleted owner leaves, down the line', async () => {
      await world.start('garbagecollector');
      const owner = await world.create('configmaps', configMap('owner'));
      const middle = await world.create('configmaps', configMap('middle', ownedBy(owner)));
      await world.create('pods', { ...pod('leaf'), metadata: { name: 'leaf', namespace: 'n', ...ownedBy(middle) } });
      await world.create('configmaps', configMap('free'));
      await world.delete('configmaps', owner, { propagationPolicy: 'Background' });
      await isGone('pods', 'n', 'leaf');
      assert.ok(await world.get('configmaps', 'n', 'free'));
    });

    it('deletes what came too late, and what was left before it started', async () => {
      const owner = await world.create('configmaps', configMap('owner'));
      await world.create('configmaps', configMap('before', ownedBy(owner)));
      await world.delete('configmaps', owner, {});
      await world.start('garbagecollector');
      await world.create('configmaps', configMap('late', ownedBy(owner)));
      await isGone('configmaps', 'n', 'before');
      await isGone('configmaps', 'n', 'late');
    });

    it('knows an owner by its uid, and keeps what another one still owns', async () => {
      await world.start('garbagecollector');
      const first = await world.create('configmaps', configMap('first'));
      const second = await world.create('configmaps', configMap('second'));
      const { ownerReferences: both } = ownedBy(first);
      both.push(...ownedBy(second).ownerReferences);
      await world.create('configmaps', configMap('shared', { ownerReferences: both }));
      await world.delete('configmaps', first);
      await world.create('configmaps', configMap('first'));
      const left = await pollUntil(async () => {
        const { metadata } = (await world.get('configmaps', 'n', 'shared')) ?? {};
        return metadata?.ownerReferences?.length === 1 ? metadata.ownerReferences : undefined;
      });
      assert.equal(left[0]?.uid, second.metadata.uid);
    });

    it('holds an owner in foreground deletion until those who block it are gone', async () => {
      await world.start('garbagecollector');
      const owner = await world.create('configmaps', configMap('owner'));
      const held = { finalizers: ['example.test/hold'] };
      const dependent = await world.create('configmaps', configMap('dep', { ...ownedBy(owner, true), ...held }));
      await world.delete('configmaps', owner, { propagationPolicy: 'Foreground' });
      await pollUntil(async () => (await world.get('configmaps', 'n', 'dep'))?.metadata.deletionTimestamp);
      assert.deepEqual((await world.get('configmaps', 'n', 'owner'))?.metadata.finalizers, ['foregroundDeletion']);
      await world.update('configmaps', dependent, ({ metadata }) => delete metadata.finalizers);
      await isGone('configmaps', 'n', 'owner');
    });

    it('ends a circle of owners in foreground deletion', async () => {
      await world.start('garbagecollector');
      const one = await world.create('configmaps', configMap('one'));
      const two = await world.create('configmaps', configMap('two', ownedBy(one, true)));
      await world.update('configmaps', one, ({ metadata }) => Object.assign(metadata, ownedBy(two, true)));
      await world.delete('configmaps', one, { propagationPolicy: 'Foreground' });
      await isGone('configmaps', 'n', 'one');
      await isGone('configmaps', 'n', 'two');
    });

    it('sets dependents free when they are to be orphaned', async () => {
      await world.start('garbagecollector');
      const owner = await world.create('configmaps', configMap('owner'));
      await world.create('configmaps', configMap('dep', ownedBy(owner)));
      await world.delete('configmaps', owner, { propagationPolicy: 'Orphan' });
      await isGone('configmaps', 'n', 'owner');
      assert.equal((await world.get('configmaps', 'n', 'dep'))?.metadata.ownerReferences, undefined);
    });

    it('follows a kind that is served later', async () => {
      await world.start('garbagecollector');
      world.resources.add(secrets as KindDefinition);
      const owner = await world.create('configmaps', configMap('owner'));
      const metadata = { name: 'dep', namespace: 'n', ...ownedBy(owner) };
      await world.create('secrets', { kind: 'Secret', apiVersion: 'v1', metadata, type: 'Opaque' } as KubeObject);
      await world.delete('configmaps', owner);
      await isGone('secrets', 'n', 'dep');
    });

    it('leaves alone what belongs to a kind it does not know', async () => {
      await world.start('garbagecollector');
      const [reference] = ownedBy(configMap('x', { uid: 'some-uid' })).ownerReferences;
      const ownerReferences = [{ ...reference, apiVersion: 'example.test/v1', kind: 'Thing' } as OwnerReference];
      await world.create('configmaps', configMap('dep', { ownerReferences }));
      const owner = await world.create('configmaps', configMap('owner'));
      await world.create('configmaps', configMap('sign', ownedBy(owner)));
      await world.delete('configmaps', owner);
      await isGone('configmaps', 'n', 'sign');
      assert.ok(await world.get('configmaps', 'n', 'dep'));
    });
  });

  it('serviceaccount and root-ca-configmap: every active namespace has its account and the authority, again when lost', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-root-ca-'));
    try {
      world.serving = ensureSelfSignedCertificate(folder, 'test', { dnsNames: ['test'], ipAddresses: [] }, Date.now());
      await world.create('namespaces', namespace('before'));
      await world.start('serviceaccount', 'root-ca-configmap');
      await world.create('namespaces', namespace('n'));
      for (const name of ['before', 'n']) {
        await pollUntil(() => world.get('serviceaccounts', name, 'default'));
        await pollUntil(() => world.get('configmaps', name, 'kube-root-ca.crt'));
      }
      const made = await world.get<ConfigMap>('configmaps', 'n', 'kube-root-ca.crt');
      assert.ok(made);
      assert.match(made.data?.['ca.crt'] ?? '', /^-----BEGIN CERTIFICATE-----/);
      assert.match(made.metadata.annotations?.['kubernetes.io/description'] ?? '', /^Contains a CA bundle/);
      await world.update<ConfigMap>('configmaps', made, (object) => (object.data = { 'ca.crt': 'forged' }));
      await pollUntil(async () => {
        const now = await world.get<ConfigMap>('configmaps', 'n', 'kube-root-ca.crt');
        return now?.data?.['ca.crt'] === made.data?.['ca.crt'];
      });
      await world.delete('configmaps', made);
      await pollUntil(() => world.get('configmaps', 'n', 'kube-root-ca.crt'));
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  it('resourcequota: counts what is there, and again what went', async () => {
    await world.start('resourcequota');
    const one = await world.create('configmaps', configMap('one'));
    await world.create('configmaps', configMap('two'));
    await world.create('resourcequotas', {
      kind: 'ResourceQuota',
      apiVersion: 'v1',
      metadata: { name: 'q', namespace: 'n' },
      spec: { hard: { configmaps: '5', pods: '3', 'count/things.example.test': '1' } },
      status: {},
    } as ResourceQuota);
    const counted = (used: Record<string, string>) =>
      pollUntil(async () => {
        const { status } = (await world.get<ResourceQuota>('resourcequotas', 'n', 'q')) ?? {};
        return status?.used !== undefined && JSON.stringify(status.used) === JSON.stringify(used) && status;
      });
    const { hard } = await counted({ configmaps: '2', pods: '0' });
    assert.deepEqual(hard, { configmaps: '5', 'count/things.example.test': '1', pods: '3' });
    await world.delete('configmaps', one);
    await counted({ configmaps: '1', pods: '0' });
  });

  it('clusterrole-aggregation: gathers the rules of selected roles by name, each once', async () => {
    await world.start('clusterrole-aggregation');
    const role = (name: string, more: Partial<ClusterRole>): ClusterRole => ({
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name, labels: { part: 'yes' } },
      rules: null,
      ...more,
    });
    const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
    await world.create(
      CLUSTER_ROLES,
      role('all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] } }),
    );
    await world.create(CLUSTER_ROLES, role('b', { rules: [rule('pods'), rule('secrets')] }));
    await world.create(CLUSTER_ROLES, role('a', { rules: [rule('nodes'), rule('pods')] }));
    const gathered = await pollUntil(async () => {
      const all = await world.get<ClusterRole>('clusterroles', '', 'all');
      return all?.rules?.length === 3 && all;
    });
    assert.deepEqual(gathered.rules, [rule('nodes'), rule('pods'), rule('secrets')]);
    const entry = gathered.metadata.managedFields?.find(({ operation }) => operation === 'Apply');
    assert.equal(entry?.manager, 'clusterrole-aggregation-controller');
  });

  it('clusterrole-aggregation: leaves a role alone that has its rules, however many roles there are at the start', async () => {
    const meta = (name: string): object => ({
      kind: 'ClusterRole',
      apiVersion: 'rbac.authorization.k8s.io/v1',
      metadata: { name, labels: { part: 'yes' } },
    });
    const rules = Array.from({ length: 400 }, (_, index) => ({
      verbs: ['get'],
      apiGroups: [''],
      resources: [`r${1000 + index}`],
    }));
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { part: 'yes' } }] };
    const make = (name: string, more: object): Promise<ClusterRole> =>
      world.create(CLUSTER_ROLES, { ...meta(name), ...more } as ClusterRole);
    const made = await make('all', { aggregationRule, rules });
    for (const rule of rules) await make(`role-${rule.resources[0]}`, { rules: [rule] });
    await world.start('clusterrole-aggregation');
    await make('later', { aggregationRule, rules: null });
    await pollUntil(async () => (await world.get<ClusterRole>('clusterroles', '', 'later'))?.rules?.length === 400);
    const after = await world.get<ClusterRole>('clusterroles', '', 'all');
    assert.equal(after?.metadata.resourceVersion, made.metadata.resourceVersion);
  });
});

// The stand-ins on real kinds in a store in memory, with a clock that is moved by hand.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { appsKinds } from '../apis/apps/index.js';
import { batchKinds } from '../apis/batch/index.js';
import { namespaces } from '../apis/core/namespace/definition.js';
import { nodes } from '../apis/core/node/definition.js';
import { pods } from '../apis/core/pod/definition.js';
import { openMemoryStore } from '../kv/memory.js';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { pollUntil } from '../lib/testing/poll-until.js';
import { silentLog } from '../lib/testing/test-log.js';
import { apiEnablement } from '../machinery/api-enablement.js';
import type { KubeObject } from '../machinery/object.js';
import { forbidden } from '../machinery/status.js';
import type { KindDefinition, LifeContext, ObjectOperations } from '../registry/kind.js';
import { createServerClient } from '../registry/server-client.js';
import type { Deployment, ReplicaSet } from '../schema/generated/apps.v1.js';
import type { Job } from '../schema/generated/batch.v1.js';
import type { Node, Pod } from '../schema/generated/core.v1.js';
import { nameSuffix } from '../server/kinds/name-suffix.js';
import { Resources } from '../server/kinds/resources.js';
import { createResourceStore } from '../storage/create-store.js';
import { startWorkloads } from './start-workloads.js';

const KINDS = [namespaces, nodes, pods, ...appsKinds, ...batchKinds] as unknown as readonly KindDefinition[];
const OUTCOME = 'testing.binnacle/outcome';

class World {
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  readonly resources: Resources;
  /** What admission says to a write. */
  refuse: (resource: string, operation: string) => boolean = () => false;
  /** Who wrote what. */
  readonly writes: string[] = [];

  constructor() {
    const kv = openMemoryStore();
    this.resources = new Resources({
      prefix: '/registry',
      openStore: (options) => createResourceStore({ kv, options }),
      clock: () => new Date(this.clock.now()),
      garbageCollection: true,
      deleteCollectionWorkers: 1,
      enablement: apiEnablement({}),
    });
    for (const kind of KINDS) this.resources.add(kind);
  }

  readonly context = (): LifeContext => ({
    user: { name: 'system:apiserver', groups: ['system:masters'] },
    namespace: '',
    now: () => new Date(this.clock.now()),
    features: { enabled: (name) => name.startsWith('Job') },
    dryRun: false,
    options: { allowPrivileged: true, eventTtlSeconds: 3600 },
    lookup: this.resources.lookup,
    warn: () => undefined,
  });

  start(): Promise<void> {
    const { resources, context, clock } = this;
    const admitted = (user: string): ObjectOperations =>
      resources.operationsWith({
        admit: ({ operation, registry: { resource }, name }) => {
          this.writes.push(`${user} ${operation} ${resource.resource}`);
          if (this.refuse(resource.resource, operation)) throw forbidden(resource, name, 'not here');
        },
        validate: () => undefined,
      });
    return startWorkloads({
      registries: () => resources.served(),
      registryOf: (resource) => resources.registry(resource),
      resourceOf: resources.resourceOf,
      clientAs: ({ name }) => createServerClient({ operations: admitted(name), lookup: resources.lookup, context }),
      operations: resources.operations,
      nameSuffix,
      context,
      clock,
      signal: this.stop.signal,
      log: silentLog,
    });
  }

  create<T extends KubeObject>(plural: string, object: T): Promise<T> {
    const kind = kindOf(plural);
    kind.versions[0]?.defaults?.(object);
    kind.versions[0]?.defaultsBehindGates?.(object, this.context().features);
    const { namespace = '' } = object.metadata;
    return this.resources.operations.create(resourceOf(plural), namespace, object, this.context()) as Promise<T>;
  }

  async get<T extends KubeObject>(plural: string, name: string): Promise<T | undefined> {
    const namespace = plural === 'nodes' ? '' : 'n';
    return (await this.resources.lookup.get(resourceOf(plural), namespace, name)) as T | undefined;
  }

  async list<T extends KubeObject>(plural: string): Promise<T[]> {
    const stored = await this.resources.lookup.list(resourceOf(plural), plural === 'nodes' ? '' : 'n');
    return stored.map((one) => one.object() as T);
  }

  update<T extends KubeObject>(plural: string, name: string, change: (object: T) => void): Promise<KubeObject> {
    const changed = (object: KubeObject): KubeObject => {
      change(object as T);
      return object;
    };
    return this.resources.operations.update({
      resource: resourceOf(plural),
      namespace: 'n',
      name,
      subresource: '',
      change: changed,
      context: this.context(),
    });
  }

  delete(plural: string, name: string): Promise<KubeObject> {
    const namespace = plural === 'nodes' ? '' : 'n';
    return this.resources.operations.delete({
      resource: resourceOf(plural),
      namespace,
      name,
      options: {},
      context: this.context(),
    });
  }

  /** The object once it is as wanted. */
  until<T extends KubeObject>(plural: string, name: string, wanted: (object: T) => unknown): Promise<T> {
    return pollUntil(async () => {
      const object = await this.get<T>(plural, name);
      return object !== undefined && wanted(object) ? object : undefined;
    }) as Promise<T>;
  }
}

const kindOf = (plural: string): KindDefinition => {
  const kind = KINDS.find((one) => one.plural === plural);
  assert.ok(kind, plural);
  return kind;
};
const resourceOf = (plural: string) => ({ group: kindOf(plural).group, resource: plural });

const containers = (image = 'web:1') => [{ name: 'c', image, resources: {} }];

const pod = (name: string, more: object = {}, annotations: Record<string, string> = {}): Pod =>
  ({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, namespace: 'n', annotations },
    spec: { containers: containers(), ...more },
    status: {},
  }) as unknown as Pod;

const deployment = (name: string, spec: object = {}, annotations: Record<string, string> = {}): Deployment =>
  ({
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: { name, namespace: 'n' },
    spec: {
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name }, annotations }, spec: { containers: containers() } },
      strategy: {},
      ...spec,
    },
    status: {},
  }) as unknown as Deployment;

const job = (name: string, spec: object = {}, annotations: Record<string, string> = {}): Job =>
  ({
    kind: 'Job',
    apiVersion: 'batch/v1',
    metadata: { name, namespace: 'n', annotations },
    spec: { template: { metadata: {}, spec: { containers: containers(), restartPolicy: 'Never' } }, ...spec },
    status: {},
  }) as unknown as Job;

const byText = (a: unknown, b: unknown): number => (String(a) < String(b) ? -1 : 1);

const conditionsOf = (conditions: readonly { type: string; status: string; reason?: string }[] | undefined) =>
  (conditions ?? []).map(({ type, status, reason }) =>
    [type, status, ...(reason === undefined ? [] : [reason])].join(' '),
  );

describe('workloads', () => {
  let world: World;
  beforeEach(() => (world = new World()));
  afterEach(() => {
    world.stop.abort();
    world.resources.close();
  });

  describe('pods', () => {
    it('are put on the stand-in node, run and are ready', async () => {
      await world.start();
      const node = await world.get<Node>('nodes', 'stand-in');
      assert.deepEqual(conditionsOf(node?.status.conditions).at(-1), 'Ready True KubeletReady');
      await world.create('pods', pod('a'));
      const { spec, status } = await world.until<Pod>('pods', 'a', ({ status: { phase } }) => phase === 'Running');
      assert.equal(spec.nodeName, 'stand-in');
      assert.deepEqual(conditionsOf(status.conditions), [
        'PodReadyToStartContainers True',
        'Initialized True',
        'Ready True',
        'ContainersReady True',
        'PodScheduled True',
      ]);
      assert.deepEqual(
        status.containerStatuses?.map(({ ready, started, restartCount, image, state }) => [
          ready,
          started,
          restartCount,
          image,
          state,
        ]),
        [[true, true, 0, 'docker.io/library/web:1', { running: { startedAt: '2030-01-01T00:00:00Z' } }]],
      );
      assert.deepEqual([status.podIP, status.hostIP], ['10.244.0.2', '10.0.0.1']);
      assert.ok(world.writes.includes('system:node:stand-in UPDATE pods'));
    });

    it('stay where another scheduler or a gate is awaited, and say why no node takes them', async () => {
      await world.start();
      await world.create('pods', pod('other', { schedulerName: 'mine' }));
      await world.create('pods', pod('gated', { schedulingGates: [{ name: 'example.test/wait' }] }));
      await world.create('pods', pod('picky', { nodeSelector: { disk: 'fast' } }));
      const picky = await world.until<Pod>('pods', 'picky', ({ status }) => conditionsOf(status.conditions).length > 0);
      assert.equal(
        picky.status.conditions?.[0]?.message,
        "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
      );
      for (const name of ['other', 'gated']) {
        assert.equal((await world.get<Pod>('pods', name))?.spec.nodeName, undefined);
      }
      const fast = { kind: 'Node', apiVersion: 'v1', metadata: { name: 'fast', labels: { disk: 'fast' } }, spec: {} };
      await world.create('nodes', { ...fast, status: {} } as unknown as Node);
      const bound = await world.until<Pod>('pods', 'picky', ({ spec }) => spec.nodeName);
      assert.equal(bound.spec.nodeName, 'fast');
    });

    it('end when they are deleted, also where a node is only named', async () => {
      await world.start();
      await world.create('pods', pod('a', { nodeName: 'unknown' }));
      await world.until<Pod>('pods', 'a', ({ status }) => status.phase === 'Running');
      await world.delete('pods', 'a');
      await pollUntil(async () => (await world.get('pods', 'a')) === undefined);
    });

    it('do what their annotation says, whenever it changes', async () => {
      await world.start();
      await world.create('pods', pod('a', {}, { [OUTCOME]: 'pending' }));
      await world.until<Pod>('pods', 'a', ({ spec }) => spec.nodeName);
      const say = (outcome: string) =>
        world.update<Pod>('pods', 'a', ({ metadata }) => (metadata.annotations = { [OUTCOME]: outcome }));
      const readiness = ({ status }: Pod): string => conditionsOf(status.conditions)[2] ?? '';
      await say('unready');
      await world.until<Pod>('pods', 'a', (object) => readiness(object) === 'Ready False ContainersNotReady');
      await say('run');
      await world.until<Pod>('pods', 'a', (object) => readiness(object) === 'Ready True');
      await say('fail');
      const failing = await world.until<Pod>('pods', 'a', (object) => readiness(object).startsWith('Ready False'));
      assert.equal(failing.status.phase, 'Running');
      assert.equal(failing.status.containerStatuses?.[0]?.state.waiting?.reason, 'CrashLoopBackOff');
      // Restarts come after pauses that double.
      await pollUntil(async () => {
        await world.clock.move(100);
        return ((await world.get<Pod>('pods', 'a'))?.status.containerStatuses?.[0]?.restartCount ?? 0) > 2;
      });
    });

    it('wait for their readiness gates', async () => {
      await world.start();
      await world.create('pods', pod('a', { readinessGates: [{ conditionType: 'example.test/open' }] }));
      const waiting = await world.until<Pod>('pods', 'a', ({ status }) => status.phase === 'Running');
      assert.equal(conditionsOf(waiting.status.conditions)[2], 'Ready False ReadinessGatesNotReady');
    });
  });

  describe('deployments', () => {
    it('make a replica set and its pods, and say when they are available', async () => {
      await world.start();
      await world.create('deployments', deployment('web', { replicas: 3 }));
      const { status, metadata } = await world.until<Deployment>(
        'deployments',
        'web',
        ({ status: { availableReplicas } }) => availableReplicas === 3,
      );
      assert.deepEqual(conditionsOf(status.conditions), [
        'Available True MinimumReplicasAvailable',
        'Progressing True NewReplicaSetAvailable',
      ]);
      assert.equal(metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
      assert.equal(metadata.generation, status.observedGeneration);
      const [replicaSet] = await world.list<ReplicaSet>('replicasets');
      assert.match(replicaSet?.metadata.name ?? '', /^web-[bcdfghjklmnpqrstvwxz2456789]+$/);
      const [one] = await world.list<Pod>('pods');
      assert.equal(one?.metadata.generateName, `${replicaSet?.metadata.name}-`);
      assert.equal(one?.metadata.ownerReferences?.[0]?.uid, replicaSet?.metadata.uid);
    });

    it('roll a new template out, keep the old one, and go back to it', async () => {
      await world.start();
      await world.create('deployments', deployment('web', { replicas: 4 }));
      const setImage = (image: string) =>
        world.update<Deployment>('deployments', 'web', ({ spec }) => {
          const [container] = spec.template.spec.containers ?? [];
          if (container !== undefined) container.image = image;
        });
      const rolledOut = (revision: string) =>
        world.until<Deployment>(
          'deployments',
          'web',
          ({ metadata, status }) =>
            metadata.annotations?.['deployment.kubernetes.io/revision'] === revision &&
            status.observedGeneration === metadata.generation &&
            status.updatedReplicas === 4 &&
            status.replicas === 4 &&
            status.availableReplicas === 4,
        );
      await rolledOut('1');
      await setImage('web:2');
      await rolledOut('2');
      await setImage('web:1');
      await rolledOut('3');
      const sets = await world.list<ReplicaSet>('replicasets');
      const revisions = sets.map(({ metadata, spec }) => [
        metadata.annotations?.['deployment.kubernetes.io/revision'],
        spec.replicas,
      ]);
      assert.deepEqual(revisions.toSorted(byText), [
        ['2', 0],
        ['3', 4],
      ]);
    });

    it('recreate: no new pod while an old one is there', async () => {
      await world.start();
      await world.create('deployments', deployment('web', { replicas: 2, strategy: { type: 'Recreate' } }));
      await world.until<Deployment>('deployments', 'web', ({ status }) => status.availableReplicas === 2);
      await world.update<Deployment>('deployments', 'web', ({ spec }) => {
        spec.template.metadata.labels = { app: 'web', v: '2' };
      });
      await world.until<Deployment>(
        'deployments',
        'web',
        ({ metadata, status }) =>
          status.observedGeneration === metadata.generation &&
          status.updatedReplicas === 2 &&
          status.availableReplicas === 2,
      );
      assert.ok((await world.list<Pod>('pods')).every(({ metadata }) => metadata.labels?.['v'] === '2'));
    });

    it('say that they are late when pods do not get ready in time', async () => {
      await world.start();
      await world.create('deployments', deployment('web', { progressDeadlineSeconds: 5 }, { [OUTCOME]: 'unready' }));
      await world.until<Deployment>('deployments', 'web', ({ status }) => status.unavailableReplicas === 1);
      const late = await pollUntil(async () => {
        await world.clock.move(1000);
        const { status } = (await world.get<Deployment>('deployments', 'web')) ?? {};
        const conditions = conditionsOf(status?.conditions);
        return conditions.includes('Progressing False ProgressDeadlineExceeded') ? conditions : undefined;
      });
      assert.ok(late.includes('Available False MinimumReplicasUnavailable'));
    });

    it('say what keeps pods from being made, until it no longer does', async () => {
      await world.start();
      world.refuse = (resource, operation) => resource === 'pods' && operation === 'CREATE';
      await world.create('deployments', deployment('web'));
      const failing = await world.until<Deployment>('deployments', 'web', ({ status }) =>
        conditionsOf(status.conditions).some((text) => text.startsWith('ReplicaFailure')),
      );
      assert.ok(conditionsOf(failing.status.conditions).includes('ReplicaFailure True FailedCreate'));
      world.refuse = () => false;
      await pollUntil(async () => {
        await world.clock.move(1000);
        const { status } = (await world.get<Deployment>('deployments', 'web')) ?? {};
        return status?.availableReplicas === 1 && status.conditions?.every(({ type }) => type !== 'ReplicaFailure');
      });
    });

    it('are scaled to nothing, and replace a pod that somebody deletes', async () => {
      await world.start();
      await world.create('deployments', deployment('web'));
      await world.until<Deployment>('deployments', 'web', ({ status }) => status.availableReplicas === 1);
      const [first] = await world.list<Pod>('pods');
      await world.delete('pods', first?.metadata.name ?? '');
      await pollUntil(async () => {
        const [now, ...more] = await world.list<Pod>('pods');
        return more.length === 0 && now?.status.phase === 'Running' && now.metadata.uid !== first?.metadata.uid;
      });
      await world.update<Deployment>('deployments', 'web', ({ spec }) => (spec.replicas = 0));
      await pollUntil(async () => (await world.list('pods')).length === 0);
    });
  });

  describe('jobs', () => {
    it('complete, with every pod counted and released', async () => {
      await world.start();
      await world.create('jobs', job('sum', { completions: 3, parallelism: 2 }));
      const { status } = await world.until<Job>('jobs', 'sum', ({ status: { completionTime } }) => completionTime);
      assert.deepEqual(conditionsOf(status.conditions), [
        'SuccessCriteriaMet True CompletionsReached',
        'Complete True CompletionsReached',
      ]);
      assert.deepEqual(
        [status.succeeded, status.failed, status.active, status.ready, status.uncountedTerminatedPods],
        [3, undefined, undefined, 0, {}],
      );
      const made = await world.list<Pod>('pods');
      assert.deepEqual(
        made.map(({ status: { phase }, metadata }) => [phase, metadata.finalizers]),
        Array.from({ length: 3 }, () => ['Succeeded', undefined]),
      );
    });

    it('fail after as many retries as they allow, where the annotation says so', async () => {
      await world.start();
      await world.create('jobs', job('bad', { backoffLimit: 2 }, { [OUTCOME]: 'fail' }));
      const { status } = await world.until<Job>('jobs', 'bad', ({ status: { conditions } }) =>
        conditionsOf(conditions).includes('Failed True BackoffLimitExceeded'),
      );
      assert.deepEqual([status.failed, status.succeeded, status.completionTime], [3, undefined, undefined]);
    });

    it('number the pods of an indexed job', async () => {
      await world.start();
      await world.create('jobs', job('all', { completions: 4, parallelism: 4, completionMode: 'Indexed' }));
      const { status } = await world.until<Job>('jobs', 'all', ({ status: { completionTime } }) => completionTime);
      assert.deepEqual([status.completedIndexes, status.succeeded], ['0-3', 4]);
      const names = (await world.list<Pod>('pods')).map(({ spec }) => spec.hostname);
      assert.deepEqual(names.toSorted(byText), ['all-0', 'all-1', 'all-2', 'all-3']);
    });

    it('end what still runs when their time is up', async () => {
      await world.start();
      await world.create('jobs', job('long', { activeDeadlineSeconds: 10 }, { [OUTCOME]: 'run' }));
      await world.until<Job>('jobs', 'long', ({ status }) => status.ready === 1);
      await pollUntil(async () => {
        await world.clock.move(1000);
        const found = await world.get<Job>('jobs', 'long');
        return conditionsOf(found?.status.conditions).includes('Failed True DeadlineExceeded');
      });
      await pollUntil(async () => (await world.list('pods')).length === 0);
    });

    it('run nothing while they are suspended', async () => {
      await world.start();
      await world.create('jobs', job('later', { suspend: true }));
      await world.until<Job>('jobs', 'later', ({ status }) =>
        conditionsOf(status.conditions).includes('Suspended True JobSuspended'),
      );
      assert.equal((await world.list('pods')).length, 0);
      await world.update<Job>('jobs', 'later', ({ spec }) => (spec.suspend = false));
      await world.until<Job>('jobs', 'later', ({ status }) => status.completionTime);
    });

    it('go when the time after their end is up, and are left to whom they name', async () => {
      await world.start();
      await world.create('jobs', job('brief', { ttlSecondsAfterFinished: 60 }));
      await world.create('jobs', job('theirs', { managedBy: 'example.test/other' }));
      await world.until<Job>('jobs', 'brief', ({ status }) => status.completionTime);
      await pollUntil(async () => {
        await world.clock.move(10_000);
        return (await world.get('jobs', 'brief')) === undefined;
      });
      assert.deepEqual((await world.get<Job>('jobs', 'theirs'))?.status, {});
    });
  });
});

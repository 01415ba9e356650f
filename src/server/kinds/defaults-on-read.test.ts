import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSets } from '../../apis/apps/statefulset/definition.js';
import { persistentVolumeClaims } from '../../apis/core/persistentvolumeclaim/definition.js';
import type { KeyValueStore } from '../../kv/kv.js';
import { openMemoryStore } from '../../kv/memory.js';
import type { KindDefinition } from '../../registry/kind.js';
import { objectCodec } from '../../rest/wire/object-codec.js';
import { mustType } from '../../schema/catalogue.js';
import { normalize } from '../../schema/json/decode.js';
import { TestApi } from '../testing/test-api.js';

/** Keeps what etcd would receive: protobuf. */
const likeEtcd = (kv: KeyValueStore): KeyValueStore => withMembers(kv, { local: false });

const withMembers = (kv: KeyValueStore, members: Partial<KeyValueStore>): KeyValueStore =>
  new Proxy(kv, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });

async function storedByAnother(type: string, key: string, object: object): Promise<KeyValueStore> {
  const kv = openMemoryStore();
  const struct = mustType(type);
  const bytes = objectCodec(struct).encodeStorage(
    normalize(struct, object as never) as never,
    'application/vnd.kubernetes.protobuf',
  );
  await kv.create(key, bytes);
  return likeEtcd(kv);
}

test('a claim that another server stored without a phase has one when it is read, and can be written again', async () => {
  const kv = await storedByAnother(
    'io.k8s.api.core.v1.PersistentVolumeClaim',
    '/registry/persistentvolumeclaims/default/c',
    {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      metadata: { name: 'c', namespace: 'default', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    },
  );
  const api = new TestApi({ kinds: [persistentVolumeClaims as unknown as KindDefinition], kv });
  const path = '/api/v1/namespaces/default/persistentvolumeclaims/c';
  const { body } = await api.send('GET', path);
  assert.deepEqual([body.status, body.spec['volumeMode']], [{ phase: 'Pending' }, 'Filesystem']);
  const changed = { ...body, metadata: { ...body.metadata, labels: { a: 'b' } } };
  assert.equal((await api.send('PUT', path, { body: changed })).status, 200);
});

test('a claim that an older build left in the embedded store is whole, and one of this build is served as it lies', async () => {
  const memory = openMemoryStore();
  const claim = (name: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        metadata: { name, namespace: 'default', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }),
    );
  const claims = '/registry/persistentvolumeclaims/default';
  const { revision: olderRevision } = await memory.create(`${claims}/old`, claim('old'));
  await memory.create(`${claims}/new`, claim('new'));
  const kv = withMembers(memory, { olderRevision });
  const api = new TestApi({ kinds: [persistentVolumeClaims as unknown as KindDefinition], kv });
  const path = '/api/v1/namespaces/default/persistentvolumeclaims';
  const { body } = await api.send('GET', `${path}/old`);
  assert.deepEqual([body.status, body.spec['volumeMode']], [{ phase: 'Pending' }, 'Filesystem']);
  const labelled = { ...body, metadata: { ...body.metadata, labels: { a: 'b' } } };
  assert.equal((await api.send('PUT', `${path}/old`, { body: labelled })).status, 200);
  assert.equal((await api.send('GET', `${path}/new`)).body.spec['volumeMode'], undefined);
});

test('the claim templates of a stateful set say what they are', async () => {
  const labels = { app: 'a' };
  const kv = await storedByAnother('io.k8s.api.apps.v1.StatefulSet', '/registry/statefulsets/default/s', {
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    metadata: { name: 's', namespace: 'default', uid: 'u', creationTimestamp: '2024-01-01T00:00:00Z' },
    spec: {
      serviceName: 's',
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
      volumeClaimTemplates: [
        {
          metadata: { name: 'v' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  });
  const api = new TestApi({ kinds: [statefulSets as unknown as KindDefinition], kv });
  const path = '/apis/apps/v1/namespaces/default/statefulsets/s';
  const { body } = await api.send('GET', path);
  const [claim] = body.spec['volumeClaimTemplates'] as readonly { kind: string; apiVersion: string }[];
  assert.deepEqual([claim?.kind, claim?.apiVersion], ['PersistentVolumeClaim', 'v1']);
  const changed = { ...body, spec: { ...body.spec, replicas: 3 } };
  assert.equal((await api.send('PUT', path, { body: changed })).status, 200);
});

// Two servers on one etcd are one control plane.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { etcdPrograms } from './etcd-process.js';
import { type ControlPlane, startControlPlane } from './support/control-plane.js';
import type { TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';
const SERVICES = 40;

describe('two servers on one etcd', { skip, timeout: 90_000 }, () => {
  let controlPlane: ControlPlane;
  let one: TestServer;
  let two: TestServer;
  const stop = new AbortController();
  before(async () => {
    controlPlane = await startControlPlane(etcdProgram?.program ?? '');
    // In both: they must not get into each other's way.
    const flags = ['--controllers=namespace,resourcequota'];
    one = await controlPlane.start(flags);
    two = await controlPlane.start(flags);
  });
  after(async () => {
    stop.abort();
    await controlPlane?.remove();
  });

  const configMap = (name: string, value: string) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { value },
  });
  const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

  it('a watch on one shows what is written through the other, and a read never misses it', async () => {
    const seen: string[] = [];
    let wake = (): void => undefined;
    await two.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=0`, stop.signal, ({ type, object }) => {
      const { metadata, data } = object as ReturnType<typeof configMap>;
      if (metadata.name === 'shared') seen.push(`${type} ${data.value}`);
      wake();
    });
    assert.equal((await one.request('POST', CONFIG_MAPS, configMap('shared', 'a'))).status, 201);
    assert.equal((await two.request('GET', `${CONFIG_MAPS}/shared`)).status, 200);
    assert.equal((await two.request('PUT', `${CONFIG_MAPS}/shared`, configMap('shared', 'b'))).status, 200);
    assert.match((await one.request('GET', `${CONFIG_MAPS}/shared`)).body, /"value":"b"/);
    assert.equal((await one.request('DELETE', `${CONFIG_MAPS}/shared`)).status, 200);
    assert.equal((await two.request('GET', `${CONFIG_MAPS}/shared`)).status, 404);
    while (seen.length < 3) await new Promise<void>((resolve) => (wake = resolve));
    assert.deepEqual(seen, ['ADDED a', 'MODIFIED b', 'DELETED b']);
  });

  it('services made through both at once never get the same address or port', async () => {
    const make = async (i: number): Promise<{ clusterIP: string; nodePort: number }> => {
      const { status, body } = await (i % 2 === 0 ? one : two).request('POST', '/api/v1/namespaces/default/services', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: `s${i}` },
        spec: { type: 'NodePort', ports: [{ port: 80 }] },
      });
      assert.equal(status, 201, body);
      const { spec } = JSON.parse(body) as { spec: { clusterIP: string; ports: { nodePort: number }[] } };
      return { clusterIP: spec.clusterIP, nodePort: spec.ports[0]?.nodePort ?? 0 };
    };
    const made = await Promise.all(Array.from({ length: SERVICES }, (_, i) => make(i)));
    assert.equal(new Set(made.map(({ clusterIP }) => clusterIP)).size, SERVICES);
    assert.equal(new Set(made.map(({ nodePort }) => nodePort)).size, SERVICES);
  });

  it('writers through both lose no update', async () => {
    await one.request('POST', CONFIG_MAPS, configMap('counter', '0'));
    const raise = async (server: TestServer): Promise<void> => {
      for (let done = 0; done < 10;) {
        const { body } = await server.request('GET', `${CONFIG_MAPS}/counter`);
        const current = JSON.parse(body) as ReturnType<typeof configMap>;
        current.data.value = String(Number(current.data.value) + 1);
        const { status } = await server.request('PUT', `${CONFIG_MAPS}/counter`, current);
        if (status === 200) done++;
        else assert.equal(status, 409);
      }
    };
    await Promise.all([raise(one), raise(two)]);
    assert.match((await two.request('GET', `${CONFIG_MAPS}/counter`)).body, /"value":"20"/);
  });

  it('creators through both never exceed a quota, and get all of it', async () => {
    const named = (name: string) => ({ apiVersion: 'v1', metadata: { name } });
    await one.request('POST', '/api/v1/namespaces', { ...named('full'), kind: 'Namespace' });
    const quotas = '/api/v1/namespaces/full/resourcequotas';
    await one.request('POST', quotas, { ...named('q'), kind: 'ResourceQuota', spec: { hard: { secrets: '10' } } });
    const used = async (server: TestServer): Promise<string | undefined> => {
      const { body } = await server.request('GET', `${quotas}/q`);
      return (JSON.parse(body) as { status: { used?: { secrets: string } } }).status.used?.secrets;
    };
    await pollUntil(async () => (await used(one)) === '0');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        (i % 2 === 0 ? one : two).request('POST', '/api/v1/namespaces/full/secrets', {
          ...named(`s${i}`),
          kind: 'Secret',
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 201).length, 10, answers.map(({ body }) => body).join('\n'));
    assert.equal(statuses.filter((status) => status === 403).length, 40);
    assert.equal(await used(two), '10');
    const made = statuses.indexOf(201);
    await two.request('DELETE', `/api/v1/namespaces/full/secrets/s${made}`);
    await pollUntil(async () => (await used(one)) === '9');
    await one.request('DELETE', '/api/v1/namespaces/full');
    await pollUntil(async () => (await two.request('GET', '/api/v1/namespaces/full')).status === 404);
  });

  it('when one is killed the other goes on, its watches included', async () => {
    let seen = (): void => undefined;
    const added = new Promise<void>((resolve) => (seen = resolve));
    await two.watch(`${CONFIG_MAPS}?watch=true&resourceVersion=0`, stop.signal, ({ object }) => {
      if ((object as ReturnType<typeof configMap>).metadata.name === 'after') seen();
    });
    await one.kill();
    assert.equal((await two.request('POST', CONFIG_MAPS, configMap('after', 'x'))).status, 201);
    await added;
    assert.equal((await two.request('GET', '/readyz')).status, 200);
    const { body } = await two.request('GET', '/api/v1/namespaces/default/services');
    assert.equal((JSON.parse(body) as { items: unknown[] }).items.length, SERVICES + 1);
  });
});

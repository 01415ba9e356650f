// The real program as an older release: what it says it is, what it serves, and pages behind gates.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { startTestServer, type TestServer } from './support/server.js';

describe('a server that emulates 1.32', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({
      flags: [
        '--emulated-version=1.32',
        '--runtime-config=api/beta=true',
        '--feature-gates=ComponentFlagz=true,ComponentStatusz=true,JobPodReplacementPolicy=false',
      ],
    });
  });
  after(() => server?.stop());

  const read = async (path: string): Promise<unknown> => JSON.parse((await server.request('GET', path)).body);

  it('reports both versions, and serves what that release had', async () => {
    const version = (await read('/version')) as Record<string, string>;
    assert.equal(version['emulationMinor'], '32');
    const { groups } = (await read('/apis')) as { groups: { name: string; versions: { version: string }[] }[] };
    const versionsOf = (group: string): string[] =>
      (groups.find(({ name }) => name === group)?.versions ?? []).map((each) => each.version);
    assert.deepEqual(versionsOf('resource.k8s.io'), ['v1beta1']);
    assert.deepEqual(versionsOf('flowcontrol.apiserver.k8s.io'), ['v1']);
    assert.ok(versionsOf('admissionregistration.k8s.io').includes('v1beta1'));
  });

  it('keeps and drops fields as that release did', async () => {
    const answer = await server.request('POST', '/apis/batch/v1/namespaces/default/jobs', {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'j' },
      spec: {
        template: {
          spec: {
            restartPolicy: 'Never',
            hostUsers: false,
            containers: [{ name: 'c', image: 'i', lifecycle: { preStop: { sleep: { seconds: 1 } } } }],
          },
        },
      },
    });
    assert.equal(answer.status, 201, answer.body);
    const { spec } = JSON.parse(answer.body) as { spec: { template: { spec: object } } };
    assert.ok(!('podReplacementPolicy' in spec), 'its gate is off');
    assert.ok(!('hostUsers' in spec.template.spec), 'its gate was off by default');
    assert.match(answer.body, /"sleep":\{"seconds":1\}/);
  });

  it('refuses a gate that the release did not have yet', async () => {
    const log = await startTestServer({
      flags: ['--emulated-version=1.31', '--feature-gates=DRADeviceTaints=true'],
    }).then(
      () => assert.fail('it started'),
      (error: unknown) => String(error),
    );
    assert.match(log, /DRADeviceTaints/);
  });

  it('shows its state only to clients that accept text', async () => {
    assert.equal((await server.request('GET', '/statusz')).status, 406);
    assert.equal((await server.request('GET', '/flagz')).status, 406);
  });
});

it(
  'a server that emulates 1.31 notes the addresses of services in a bitmap, which 1.34 takes over as objects',
  { timeout: 60_000 },
  async () => {
    const services = '/api/v1/namespaces/default/services';
    const service = (name: string, clusterIP?: string): object => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { ports: [{ port: 80 }], ...(clusterIP !== undefined && { clusterIP }) },
    });
    const older = await startTestServer({
      flags: ['--emulated-version=1.31', '--runtime-config=networking.k8s.io/v1beta1=true'],
    });
    const refused = await older.request('POST', services, service('far', '10.1.0.1'));
    assert.match(refused.body, /the provided IP \(10\.1\.0\.1\) is not in the valid range/);
    assert.equal((await older.request('POST', services, service('one', '10.0.0.9'))).status, 201);
    assert.match((await older.request('POST', services, service('two', '10.0.0.9'))).body, /already allocated/);
    const objects = await older.request('GET', '/apis/networking.k8s.io/v1beta1/ipaddresses');
    assert.deepEqual((JSON.parse(objects.body) as { items: unknown[] }).items, []);
    await older.kill();
    const newer = await startTestServer({ folder: older.folder });
    try {
      assert.match((await newer.request('POST', services, service('two', '10.0.0.9'))).body, /already allocated/);
      assert.equal((await newer.request('GET', '/apis/networking.k8s.io/v1/ipaddresses/10.0.0.9')).status, 200);
    } finally {
      await newer.stop();
    }
  },
);

it('what was stored under other gates is filled up when it is read', { timeout: 60_000 }, async () => {
  const jobs = '/apis/batch/v1/namespaces/default/jobs';
  const older = await startTestServer({
    flags: ['--emulated-version=1.33', '--feature-gates=JobPodReplacementPolicy=false'],
  });
  const made = await older.request('POST', jobs, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j' },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
  });
  assert.doesNotMatch(made.body, /podReplacementPolicy/);
  await older.kill();
  const newer = await startTestServer({ folder: older.folder });
  try {
    const { body } = await newer.request('GET', `${jobs}/j`);
    assert.match(body, /"podReplacementPolicy":"TerminatingOrFailed"/);
  } finally {
    await newer.stop();
  }
});

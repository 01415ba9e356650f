// Admission webhooks as their authors write them: on a web framework, with a certificate, registered with the server.
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { generateKeys, issueCertificate, privateKeyPem } from '../src/lib/x509/issue-certificate.js';
import { startTestServer, type TestServer } from './support/server.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';
const PODS = '/api/v1/namespaces/default/pods';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
/** The server, where it writes itself. */
const SERVER = 'system:apiserver system:authenticated,system:masters';

interface Review {
  readonly request: {
    readonly uid: string;
    readonly name: string;
    readonly operation: string;
    readonly resource: { readonly resource: string };
    readonly subResource?: string;
    readonly userInfo: { readonly username: string; readonly groups: readonly string[] };
    readonly object: {
      readonly data?: { readonly by?: string };
      readonly spec: { readonly containers: readonly { readonly image: string }[] };
    };
  };
}

interface HookSpec {
  readonly name: string;
  readonly path: string;
  readonly rules: readonly object[];
  readonly timeoutSeconds?: number;
}

describe('admission webhooks', { timeout: 60_000 }, () => {
  let server: TestServer;
  let hooks: FastifyInstance;
  let url: string;
  const seen: string[] = [];
  const { cert, key, ca } = certificates();

  before(async () => {
    const flags = ['--disable-admission-plugins=ServiceAccount', '--controllers=serviceaccount,resourcequota'];
    [server, hooks] = [await startTestServer({ flags }), build()];
    await hooks.listen({ host: '127.0.0.1', port: 0 });
    url = `https://127.0.0.1:${(hooks.server.address() as AddressInfo).port}`;
    const rule = (resource: string, ...more: string[]) => [
      { operations: ['CREATE', ...more], apiGroups: [''], apiVersions: ['v1'], resources: [resource] },
    ];
    await register('mutating', [{ name: 'sidecar.example.test', path: '/sidecar', rules: rule('pods') }]);
    await register('validating', [
      { name: 'tags.example.test', path: '/tags', rules: rule('pods') },
      { name: 'faults.example.test', path: '/faults', rules: rule('configmaps', 'UPDATE'), timeoutSeconds: 1 },
    ]);
    await pollUntil(async () =>
      (await create(`${PODS}?dryRun=All`, pod('probe', 'example.test/a:1'))).body.includes('sidecar'),
    );
  });
  after(async () => {
    await hooks.close();
    await server.stop();
  });

  /** The hooks, as their author would write them. */
  function build(): FastifyInstance {
    const app = fastify({ https: { cert, key }, forceCloseConnections: true });
    const answer = ({ request }: Review, response: object) => ({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: request.uid, allowed: true, ...response },
    });
    app.post<{ Body: Review }>('/sidecar', ({ body }) => {
      const patch = [{ op: 'add', path: '/spec/containers/-', value: { name: 'sidecar', image: 'example.test/side' } }];
      return answer(body, { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') });
    });
    app.post<{ Body: Review }>('/tags', ({ body }) => {
      const floating = body.request.object.spec.containers.filter(({ image }) => image.endsWith(':latest'));
      if (floating.length === 0) return answer(body, { warnings: ['images should be named by digest, für immer'] });
      return answer(body, { allowed: false, status: { message: `${floating[0]?.image} may change` } });
    });
    app.post<{ Body: Review }>('/sees', ({ body }) => {
      const { operation, resource, subResource, userInfo, name } = body.request;
      seen.push(
        `${operation} ${resource.resource}/${subResource ?? ''} ${name} ${userInfo.username} ${String(userInfo.groups)}`,
      );
      return answer(body, {});
    });
    app.post<{ Body: Review }>('/faults', async ({ body }, reply) => {
      const { name } = body.request;
      if (name === 'hangs') return new Promise(() => undefined);
      if (name === 'talks') return reply.type('application/json').send(`"${'x'.repeat(10 * 1024 * 1024)}"`);
      if (name === 'calls') await server.request('GET', CONFIG_MAPS);
      // Writes the very object under review, once.
      if (name === 'rewritten' && body.request.operation === 'UPDATE' && body.request.object.data?.by !== 'hook') {
        const { status } = await server.request('PUT', `${CONFIG_MAPS}/${name}`, configMap(name, { by: 'hook' }));
        assert.equal(status, 200);
      }
      const round = /^again-(\d+)$/.exec(name)?.[1];
      if (round !== undefined) await create(CONFIG_MAPS, configMap(`again-${Number(round) + 1}`));
      return answer(body, {});
    });
    return app;
  }

  async function register(
    kind: 'mutating' | 'validating',
    list: readonly HookSpec[],
    configuration = 'example',
  ): Promise<void> {
    const name = `${kind === 'mutating' ? 'Mutating' : 'Validating'}WebhookConfiguration`;
    const webhooks = list.map(({ path, ...hook }) => ({
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url: url + path, caBundle: Buffer.from(ca).toString('base64') },
      ...hook,
    }));
    const { status, body } = await create(`${CONFIGURATIONS}/${kind}webhookconfigurations`, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: name,
      metadata: { name: configuration },
      webhooks,
    });
    assert.equal(status, 201, body);
  }
  const create = (path: string, object: object) => server.request('POST', path, object);
  const untilSeen = (line: string): Promise<boolean> => pollUntil(() => seen.includes(line));
  const found = async (name: string): Promise<boolean> =>
    (await server.request('GET', `${CONFIG_MAPS}/${name}`)).status === 200;

  it('add what they want to an object, with its defaults, and warn', async () => {
    const { status, body, headers } = await create(PODS, pod('good', 'example.test/a:1'));
    assert.equal(status, 201, body);
    const { containers } = (JSON.parse(body) as { spec: { containers: { name: string; imagePullPolicy: string }[] } })
      .spec;
    assert.deepEqual(
      containers.map(({ name, imagePullPolicy }) => [name, imagePullPolicy]),
      [
        ['main', 'IfNotPresent'],
        ['sidecar', 'Always'],
      ],
    );
    const warning = Buffer.from(headers['warning'] ?? '', 'latin1').toString();
    assert.equal(warning, '299 - "images should be named by digest, für immer"');
  });

  it('refuse in their own words', async () => {
    const { status, body } = await create(PODS, pod('bad', 'example.test/a:latest'));
    assert.equal(status, 400);
    assert.match(
      body,
      /admission webhook \\"tags.example.test\\" denied the request: example.test\/a:latest may change/,
    );
  });

  it('that hang or talk too much fail the request, and nothing is stored', async () => {
    const hung = await create(CONFIG_MAPS, configMap('hangs'));
    assert.match(hung.body, /faults\?timeout=1s\\": context deadline exceeded/);
    const talked = await create(CONFIG_MAPS, configMap('talks'));
    assert.equal(talked.status, 500);
    assert.ok(talked.body.length < 10_000, 'what was said is not said again');
    assert.deepEqual([await found('hangs'), await found('talks')], [false, false]);
  });

  it('may call the server itself, but not for ever', async () => {
    assert.equal((await create(CONFIG_MAPS, configMap('calls'))).status, 201);
    const { body } = await create(CONFIG_MAPS, configMap('again-0'));
    assert.match(body, /context deadline exceeded/);
    assert.equal(await found('again-0'), false);
    assert.equal((await create(CONFIG_MAPS, configMap('after'))).status, 201);
  });

  it('may write the very object under review: neither write waits for the other for ever', async () => {
    assert.equal((await create(CONFIG_MAPS, configMap('rewritten'))).status, 201);
    const { status, body } = await server.request(
      'PUT',
      `${CONFIG_MAPS}/rewritten`,
      configMap('rewritten', { by: 'us' }),
    );
    assert.equal(status, 200, body);
    assert.match((await server.request('GET', `${CONFIG_MAPS}/rewritten`)).body, /"by":"us"/);
  });

  it('have a say about what the server itself writes', async () => {
    const rules = [
      {
        operations: ['*'],
        apiGroups: ['apiextensions.k8s.io', 'apiregistration.k8s.io'],
        apiVersions: ['*'],
        resources: ['*/*'],
      },
    ];
    await register('validating', [{ name: 'sees.example.test', path: '/sees', rules }], 'sees');
    const names = { plural: 'crates', singular: 'crate', kind: 'Crate', listKind: 'CrateList' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'crates.example.test' },
      spec: {
        group: 'example.test',
        scope: 'Cluster',
        names,
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    assert.equal((await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition)).status, 201);
    await untilSeen(`CREATE apiservices/ v1.example.test ${SERVER}`);
    await untilSeen(`UPDATE customresourcedefinitions/status crates.example.test ${SERVER}`);
  });

  it('have a say about what its controllers write, as accounts of their own, and about what quotas count', async () => {
    const resources = ['serviceaccounts', 'resourcequotas/status'];
    const rules = [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources }];
    await register('validating', [{ name: 'sees.example.test', path: '/sees', rules }], 'controllers');
    const accounts = 'system:serviceaccounts,system:serviceaccounts:kube-system,system:authenticated';
    const account = (name: string): string => `system:serviceaccount:kube-system:${name} ${accounts}`;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'counted' } };
    assert.equal((await create('/api/v1/namespaces', namespace)).status, 201);
    await untilSeen(`CREATE serviceaccounts/ default ${account('service-account-controller')}`);
    const hard = { 'count/configmaps': '3' };
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'few' }, spec: { hard } };
    assert.equal((await create('/api/v1/namespaces/counted/resourcequotas', quota)).status, 201);
    await untilSeen(`UPDATE resourcequotas/status few ${account('resourcequota-controller')}`);
    // A webhook sees a write before it is made.
    await pollUntil(async () =>
      (await server.request('GET', '/api/v1/namespaces/counted/resourcequotas/few')).body.includes('"used"'),
    );
    assert.equal((await create('/api/v1/namespaces/counted/configmaps', configMap('one'))).status, 201);
    assert.ok(seen.includes(`UPDATE resourcequotas/status few ${SERVER}`));
  });

  it('at the API’s own service are called without a connection, as the server itself', async () => {
    const hook = (path: string) => ({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'itself' },
      webhooks: [
        {
          name: 'itself.example.test',
          clientConfig: { service: { namespace: 'default', name: 'kubernetes', path } },
          rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
        },
      ],
    });
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
    const call = async (path: string): Promise<string> => {
      const configurations = `${CONFIGURATIONS}/validatingwebhookconfigurations`;
      assert.equal((await create(configurations, hook(path))).status, 201);
      const { body } = await create('/api/v1/namespaces/default/secrets', secret);
      assert.equal((await server.request('DELETE', `${configurations}/itself`)).status, 200);
      return (JSON.parse(body) as { message: string }).message;
    };
    assert.match(await call('/healthz'), /failed to call webhook: couldn't get version\/kind/);
    assert.match(await call('/nowhere'), /failed to call webhook: the server could not find the requested resource/);
    // It may do everything, so this is refused for what it sends and not for who it is.
    assert.match(
      await call('/api/v1/namespaces/default/configmaps'),
      /AdmissionReview in version "v1" cannot be handled/,
    );
  });
});

const pod = (name: string, image: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'main', image }] },
});
const configMap = (name: string, data = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

function certificates(): { readonly cert: string; readonly key: string; readonly ca: string } {
  const authority = { subject: { commonName: 'hooks' }, keys: generateKeys() };
  const keys = generateKeys();
  const issue = (publicKey: typeof keys.publicKey, use: 'authority' | 'server') =>
    issueCertificate({
      subject: use === 'authority' ? authority.subject : { commonName: 'hook' },
      publicKey,
      issuer: authority,
      use,
      dnsNames: [],
      ipAddresses: use === 'server' ? ['127.0.0.1'] : [],
      notBeforeMs: Date.now() - 60_000,
      notAfterMs: Date.now() + 86_400_000,
    });
  return {
    ca: issue(authority.keys.publicKey, 'authority'),
    cert: issue(keys.publicKey, 'server'),
    key: privateKeyPem(keys.privateKey),
  };
}

// runs-on: every-node
// Requests that look like something else, over real sockets: nobody does what they were not allowed.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import tls from 'node:tls';
import { startTestServer, type TestServer } from '../support/server.js';

const MAPS = '/api/v1/namespaces/default/configmaps';
const WATCHED = '/api/v1/watch/namespaces/default/configmaps';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

describe('requests that look like something else', { timeout: 60_000 }, () => {
  let server: TestServer;
  const tokens = new Map<string, string>();

  before(async () => {
    server = await startTestServer();
    for (const verb of ['watch', 'list']) {
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: [verb] }];
      await made(`${RBAC}/clusterroles`, { metadata: { name: verb }, rules });
      await made('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: verb } });
      await made(`${RBAC}/clusterrolebindings`, {
        metadata: { name: verb },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: verb },
        subjects: [{ kind: 'ServiceAccount', name: verb, namespace: 'default' }],
      });
      const account = `/api/v1/namespaces/default/serviceaccounts/${verb}/token`;
      const { status } = JSON.parse(await made(account, { spec: {} })) as { status: { token: string } };
      tokens.set(verb, status.token);
    }
    await made(MAPS, { metadata: { name: 'kept' }, data: { a: 'b' } });
  });
  after(() => server.stop());

  async function made(to: string, object: object): Promise<string> {
    const { status, body } = await server.request('POST', to, object);
    assert.equal(status, 201, body);
    return body;
  }

  /** The status of the answer to a first line and a body, sent as they are. */
  function send(as: string, line: string, body = ''): Promise<number> {
    return new Promise((resolve, reject) => {
      const { port } = new URL(server.url);
      const ca = fs.readFileSync(path.join(server.folder, 'pki', 'ca.crt'));
      const socket = tls.connect({ port: Number(port), host: '127.0.0.1', ca }, () => {
        const headers = [
          'Host: localhost',
          `Authorization: Bearer ${tokens.get(as) ?? ''}`,
          `Content-Type: application/${line.startsWith('PATCH') ? 'merge-patch+json' : 'json'}`,
          `Content-Length: ${body.length}`,
        ];
        socket.write(`${line} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
      });
      socket.once('data', (bytes: Buffer) => {
        resolve(Number(bytes.toString('latin1').split(' ')[1]));
        socket.destroy();
      });
      socket.on('error', reject);
    });
  }

  it('lets who may only watch do nothing else under /watch/', async () => {
    const map = JSON.stringify({ metadata: { name: 'kept' }, data: { a: 'evil' } });
    for (const [line, wanted] of [
      [`POST ${WATCHED}`, 405],
      [`PUT ${WATCHED}/kept`, 405],
      [`PATCH ${WATCHED}/kept`, 405],
      [`DELETE ${WATCHED}/kept`, 405],
      [`DELETE ${WATCHED}`, 405],
      [`DELETE /api/v1/%77atch/namespaces/default/configmaps/kept`, 405],
      [`POST ${MAPS}`, 403],
      [`GET ${MAPS}`, 403],
      [`GET ${MAPS}?watch=false`, 403],
      [`GET ${MAPS}?watch=true`, 200],
      [`GET ${MAPS}?wat%63h=true`, 200],
      [`GET ${WATCHED}`, 200],
    ] as const) {
      const body = /^(POST|PUT|PATCH)/.test(line) ? map : '';
      assert.equal(await send('watch', line, body), wanted, line);
    }
    const { body } = await server.request('GET', `${MAPS}/kept`);
    assert.deepEqual((JSON.parse(body) as { data: object }).data, { a: 'b' });
  });

  it('lets who may only list watch nothing, however it is spelled', async () => {
    for (const [line, wanted] of [
      [`GET ${MAPS}`, 200],
      [`GET ${MAPS}?watch=1`, 403],
      [`GET ${MAPS}?wat%63h=true`, 403],
      [`GET ${MAPS}?a=b&%77%61tch`, 403],
      [`GET ${WATCHED}`, 403],
      [`GET ${MAPS}?watch=true;x`, 200],
      [`GET ${MAPS}??watch=true`, 200],
      [`GET /${MAPS}`, 404],
      [`GET /apis//v1/namespaces/default/configmaps`, 404],
      [`GET /api/v1/proxy/namespaces/default/configmaps/kept`, 403],
      [`BREW ${MAPS}`, 403],
    ] as const) {
      assert.equal(await send('list', line), wanted, line);
    }
  });

  it('refuses the administrator what there is not', async () => {
    for (const [method, to, wanted] of [
      ['POST', WATCHED, 405],
      ['BREW', MAPS, 405],
      ['TRACE', MAPS, 405],
      ['GET', '/api/v1/proxy/namespaces/default/configmaps/kept', 404],
      ['DELETE', '/api/v1/namespaces/default/pods/x/log', 405],
      ['GET', `/${MAPS}`, 404],
    ] as const) {
      assert.equal((await server.request(method, to)).status, wanted, `${method} ${to}`);
    }
  });
});

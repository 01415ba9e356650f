// Several worker processes are one server, on the embedded store and on etcd.
// runs-on: every-node
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import tls, { type TLSSocket } from 'node:tls';
import { etcdPrograms } from './etcd-process.js';
import { type ControlPlane, startControlPlane } from './support/control-plane.js';
import { startTestServer, type TestAnswer, type TestServer } from './support/server.js';
import { workerOf, workerPids } from './support/worker-processes.js';
import { pollUntil } from '../src/lib/testing/poll-until.js';

const [etcdProgram] = etcdPrograms();
const skip = etcdProgram === undefined && 'there is no etcd: run `node tools/fetch-test-binaries.mjs`';
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

for (const store of ['embedded', 'etcd'] as const) {
  describe(`two worker processes, ${store}`, { skip: store === 'etcd' && skip, timeout: 120_000 }, () => {
    let controlPlane: ControlPlane | undefined;
    let server: TestServer;
    let folder: string;
    const sockets: TLSSocket[] = [];
    before(async () => {
      folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-workers-'));
      const policy = path.join(folder, 'policy.yaml');
      fs.writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Metadata\n');
      writeAuthorization('RBAC');
      const flags = [
        '--workers=2',
        '--feature-gates=ComponentStatusz=true',
        `--audit-policy-file=${policy}`,
        `--audit-log-path=${folder}/audit.log`,
        `--authorization-config=${folder}/authorization.yaml`,
      ];
      if (store === 'etcd') controlPlane = await startControlPlane(etcdProgram?.program ?? '');
      const more = { authorizationModes: [] };
      server = await (controlPlane?.start(flags, undefined, more) ?? startTestServer({ flags, ...more }));
    });
    after(async () => {
      for (const socket of sockets) socket.destroy();
      await (controlPlane?.remove() ?? server?.stop());
      fs.rmSync(folder, { recursive: true, force: true });
    });

    const writeAuthorization = (type: string): void => {
      const authorizers = `- {type: ${type}, name: ${type.toLowerCase()}}\n`;
      const text = `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n${authorizers}`;
      fs.writeFileSync(path.join(folder, 'authorization.next'), text);
      fs.renameSync(path.join(folder, 'authorization.next'), path.join(folder, 'authorization.yaml'));
    };
    const open = (): TLSSocket => {
      const { port } = new URL(server.url);
      const socket = tls.connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
      socket.on('error', () => undefined);
      sockets.push(socket);
      return socket;
    };
    /** The worker that has a connection, which is kept. */
    const connect = async (): Promise<number> => {
      const socket = open();
      await once(socket, 'secureConnect');
      return workerOf(server.pid, socket);
    };
    const ready = async (): Promise<boolean> =>
      (await server.request('GET', '/readyz').catch(() => undefined))?.status === 200;
    const started = (): boolean => workerPids(server.pid).length === 2;
    /** By the order in which they were started, when both are there. */
    const worker = async (which: 0 | 1): Promise<number> => {
      await pollUntil(started);
      return workerPids(server.pid)[which] ?? assert.fail('it has ended');
    };

    it('have as many connections each', async () => {
      await pollUntil(() => server.log().includes('All worker processes have started'));
      const [one, two] = workerPids(server.pid);
      const pids: number[] = [];
      for (let i = 0; i < 8; i++) pids.push(await connect());
      assert.equal(pids.filter((pid) => pid === one).length, 4, pids.join());
      assert.equal(pids.filter((pid) => pid === two).length, 4, pids.join());
    });

    it('a write through one is seen by the next read at the other', async () => {
      for (let i = 0; i < 20; i++) {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `seen-${i}` } };
        assert.equal((await server.request('POST', CONFIG_MAPS, object)).status, 201);
        // Each request has a connection of its own, and so the next worker.
        assert.equal((await server.request('GET', `${CONFIG_MAPS}/seen-${i}`)).status, 200);
      }
    });

    it('have one page of metrics: what each did is counted', async () => {
      const counted = async (): Promise<number> => {
        const { body } = await server.request('GET', '/metrics');
        const line = /^apiserver_request_total\{.*code="404".*resource="secrets".*verb="GET".*\} (\d+)$/m.exec(body);
        return Number(line?.[1] ?? 0);
      };
      const earlier = await counted();
      for (let i = 0; i < 6; i++) await server.request('GET', '/api/v1/namespaces/default/secrets/none');
      assert.equal(await counted(), earlier + 6);
      const { body } = await server.request('GET', '/metrics');
      assert.equal(body.match(/^# TYPE apiserver_request_total /gm)?.length, 1);
      assert.match(body, /^kubernetes_build_info\{.*\} 1$/m);
    });

    it('have one audit log', async () => {
      const paths = Array.from({ length: 20 }, (_, i) => `/api/v1/namespaces/default/secrets/audited-${i}`);
      await Promise.all(paths.map((one) => server.request('GET', one)));
      const lines = (): readonly { requestURI: string; stage: string }[] =>
        fs
          .readFileSync(path.join(folder, 'audit.log'), 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { requestURI: string; stage: string });
      await pollUntil(() => {
        const done = lines().filter(({ stage }) => stage === 'ResponseComplete');
        return paths.every((one) => done.filter(({ requestURI }) => requestURI === one).length === 1);
      });
    });

    it('all read a configuration file again that has changed, and refuse what is wrong in it', async () => {
      writeAuthorization('Nobody');
      const refused = /apiserver_authorization_config_controller_automatic_reloads_total\{.*status="failure".*\} (\d+)/;
      await pollUntil(async () => {
        const { body } = await server.request('GET', '/metrics');
        return Number(refused.exec(body)?.[1]) === 1;
      });
      // A worker that is started later reads it.
      writeAuthorization('RBAC');
    });

    it('list the same health checks', async () => {
      const bodies = await Promise.all(
        Array.from({ length: 4 }, async () => (await server.request('GET', '/readyz?verbose')).body),
      );
      assert.equal(new Set(bodies).size, 1, bodies.join());
    });

    it('one that dies is replaced, and the other serves meanwhile', async () => {
      const victim = await worker(1);
      process.kill(victim, 'SIGKILL');
      await pollUntil(ready);
      const replaced = new RegExp(`A worker process ended and is replaced.* pid=${victim} .*SIGKILL`);
      await pollUntil(() => replaced.test(server.log()) && started());
      const [, replacement] = workerPids(server.pid);
      // It has no connections, and gets the next ones once it has started.
      await pollUntil(async () => (await connect()) === replacement);
      await pollUntil(ready);
    });

    it('say since when the server is up, also one that was started later', async () => {
      const send = (): Promise<TestAnswer> => server.send('GET', '/statusz', undefined, { accept: 'text/plain' });
      const pages = await Promise.all(Array.from({ length: 8 }, send));
      const starts = pages.map(({ body }) => /^Started: .*$/m.exec(body)?.[0] ?? assert.fail(body));
      assert.equal(new Set(starts).size, 1, starts.join());
    });

    it('connections that wait for one that dies go to the other', async () => {
      const victim = await worker(1);
      process.kill(victim, 'SIGSTOP');
      const waiting = Array.from({ length: 6 }, open);
      await Promise.all(waiting.map((socket) => once(socket, 'connect')));
      process.kill(victim, 'SIGKILL');
      await Promise.all(waiting.map((socket) => once(socket, 'secureConnect')));
      await pollUntil(() => started() && !workerPids(server.pid).includes(victim));
    });

    it(
      'one that hangs is killed and replaced, and the other serves meanwhile',
      { skip: store === 'etcd' },
      async () => {
        const victim = await worker(1);
        // It has started when it gets connections.
        await pollUntil(async () => (await connect()) === victim);
        process.kill(victim, 'SIGSTOP');
        await pollUntil(() => new RegExp(`does not answer and is killed.* pid=${victim}`).test(server.log()));
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'while-hung' } };
        await pollUntil(() => started() && !workerPids(server.pid).includes(victim));
        assert.equal((await server.request('POST', CONFIG_MAPS, object)).status, 201);
      },
    );

    it('the first one is replaced as well', async () => {
      const victim = await worker(0);
      process.kill(victim, 'SIGKILL');
      await pollUntil(() => started() && !workerPids(server.pid).includes(victim));
      await pollUntil(ready);
    });

    it('end together: requests are answered, watches end, and the code is 0', async () => {
      for (const socket of sockets.splice(0)) socket.destroy();
      const ended: number[] = [];
      const stop = new AbortController();
      for (let i = 0; i < 4; i++) {
        await server.watch(
          `${CONFIG_MAPS}?watch=true`,
          stop.signal,
          () => undefined,
          (status) => ended.push(status),
        );
      }
      const pids = workerPids(server.pid);
      // As `binnacle down` does, which knows the process that has the data folder.
      process.kill(pids[1] ?? 0, 'SIGTERM');
      assert.equal(await server.exited, 0);
      assert.deepEqual(ended, [200, 200, 200, 200]);
      for (const pid of pids) assert.throws(() => process.kill(pid, 0), /ESRCH/);
      assert.equal(server.log().match(/Serving securely on/g)?.length, 1);
      assert.equal(server.log().match(/Stopped listening on/g)?.length, 1);
    });
  });
}

describe('worker processes that cannot go on', { skip, timeout: 120_000 }, () => {
  let controlPlane: ControlPlane;
  before(async () => (controlPlane = await startControlPlane(etcdProgram?.program ?? '')));
  after(() => controlPlane?.remove());

  it('end the server, with the reason, when they die again and again', async () => {
    const server = await controlPlane.start(['--workers=2']);
    let ended = false;
    void server.exited.then(() => (ended = true));
    await pollUntil(() => server.log().includes('All worker processes have started'));
    const killed = new Set<number>();
    await pollUntil(() => {
      const [, victim] = workerPids(server.pid);
      if (victim !== undefined && !killed.has(victim)) {
        killed.add(victim);
        process.kill(victim, 'SIGKILL');
      }
      return ended;
    });
    assert.equal(await server.exited, 255);
    assert.match(server.log(), /worker processes keep ending: the last, 1, was ended by SIGKILL soon after its start/);
  });

  it('end with their supervisor', async () => {
    const server = await controlPlane.start(['--workers=2']);
    await pollUntil(() => workerPids(server.pid).length === 2);
    const pids = workerPids(server.pid);
    await server.kill();
    await pollUntil(() => pids.every((pid) => !isAlive(pid)));
  });

  it('end the server with the code of the one that does not come up', async () => {
    await assert.rejects(
      controlPlane.start(['--workers=2', '--tls-cert-file=/none', '--tls-private-key-file=/none']),
      (error: Error) => {
        assert.equal(error.message.match(/no such file or directory/g)?.length, 1, error.message);
        return true;
      },
    );
  });
});

describe('two worker processes that do not come up', () => {
  it('do not say that they serve', { timeout: 60_000 }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-newer-'));
    fs.writeFileSync(path.join(folder, 'FORMAT'), 'binnacle-store 99\n');
    await assert.rejects(startTestServer({ folder, flags: ['--workers=2'] }), (error: Error) => {
      assert.match(error.message, /has format 99, written by a newer version/);
      // `binnacle up` takes that line for a server that has begun.
      assert.doesNotMatch(error.message, /Serving securely on/);
      return true;
    });
    fs.rmSync(folder, { recursive: true, force: true });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

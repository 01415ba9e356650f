// Clients that were connected before the only server was killed resume their watches when it is back, all at once.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { etcdPrograms } from './etcd-process.js';
import { startControlPlane } from './support/control-plane.js';
import { startTestServer, type TestServer } from './support/server.js';

const WATCHES = 60;
/** Some pages of history, which end by their revisions and by their bytes. */
const WRITES = 320;
const FURTHER_WRITES = 80;
const WRITERS = 8;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const PADDING = 'x'.repeat(4_000);
const KEPT = { keepsConnections: true };

describe('watches on the embedded store', { timeout: 300_000 }, () =>
  resumedWatches(async () => {
    const first = await startTestServer(KEPT);
    return {
      first,
      startAgain: () => startTestServer({ folder: first.folder, ...KEPT }),
      remove: async () => undefined,
    };
  }),
);

const [etcd] = etcdPrograms();
describe('watches on etcd', { timeout: 300_000, skip: etcd === undefined && 'no etcd program at hand' }, () =>
  resumedWatches(async () => {
    const controlPlane = await startControlPlane(etcd?.program ?? '');
    return {
      first: await controlPlane.start([], undefined, KEPT),
      startAgain: () => controlPlane.start([], undefined, KEPT),
      remove: () => controlPlane.remove(),
    };
  }),
);

interface Servers {
  readonly first: TestServer;
  readonly startAgain: () => Promise<TestServer>;
  readonly remove: () => Promise<void>;
}

function resumedWatches(start: () => Promise<Servers>): void {
  let server: TestServer;
  let remove: () => Promise<void>;
  /** The revision of each change of the config maps, in order, as the server answered it. */
  const revisions: number[] = [];
  /** The revision of each of the last changes, by config map. */
  const latest = new Map<string, string>();

  before(async () => {
    const servers = await start();
    remove = servers.remove;
    const names = Array.from({ length: 40 }, (_, i) => `resumed-${i}`);
    for (const name of names) await create(servers.first, name);
    await write(servers.first, names, WRITES);
    await servers.first.kill();
    server = await servers.startAgain();
  });

  after(async () => {
    await server.stop();
    await remove();
  });

  it('resume at once, the newest first', () => resumeAll(spread().reverse()));

  it('resume at once, the oldest first, while others write', async () => {
    const names = [...latest.keys()];
    await Promise.all([resumeAll(spread()), write(server, names.slice(0, 20), FURTHER_WRITES)]);
    await Promise.all([resumeAll(spread().reverse()), write(server, names.slice(20), FURTHER_WRITES)]);
  });

  it('that leave at their first event leave nothing behind: as many others resume', async () => {
    await Promise.all(
      spread().map(async (from) => {
        const leave = new AbortController();
        await new Promise<void>((resolve, reject) => {
          server
            .watch(watchFrom(from), leave.signal, () => {
              leave.abort();
              resolve();
            })
            .catch(reject);
        });
      }),
    );
    await resumeAll(spread());
  });

  /** Where the watches begin, oldest first: from the first change to shortly before the last. */
  const spread = (): number[] =>
    Array.from({ length: WATCHES }, (_, i) => revisions[Math.floor((i * (revisions.length - 1)) / WATCHES)] ?? 0);

  const watchFrom = (revision: number): string => `${CONFIG_MAPS}?watch=1&resourceVersion=${revision}`;

  /** Each of them gets every change after its revision that had been made when it began, once and in order. */
  async function resumeAll(starts: readonly number[]): Promise<void> {
    await Promise.all(starts.map(resume));
  }

  async function resume(from: number): Promise<void> {
    const expected = revisions.filter((revision) => revision > from);
    const last = expected.at(-1) ?? 0;
    const got: number[] = [];
    const leave = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const line = ({ type, object }: { type: string; object: unknown }): void => {
        if (type === 'ERROR' || type === undefined)
          return reject(new Error(`the watch from ${from} ended: ${JSON.stringify(object)}`));
        const { name, resourceVersion } = (object as { metadata: { name: string; resourceVersion: string } }).metadata;
        if (!name.startsWith('resumed-')) return;
        got.push(Number(resourceVersion));
        if (Number(resourceVersion) >= last) resolve();
      };
      server
        .watch(watchFrom(from), leave.signal, line, (status) => reject(new Error(`${from} ended with ${status}`)))
        .catch(reject);
    });
    leave.abort();
    assert.deepEqual(got.slice(0, expected.length), expected, `a watch from ${from}`);
  }

  async function create(at: TestServer, name: string): Promise<void> {
    const made = await at.request('POST', CONFIG_MAPS, configMap(name, '0'));
    assert.equal(made.status, 201, made.body);
    note(name, made.body);
  }

  /** Writers that each have config maps of their own. */
  async function write(at: TestServer, names: readonly string[], count: number): Promise<void> {
    const writer = async (offset: number): Promise<void> => {
      const own = names.filter((_, i) => i % WRITERS === offset);
      for (let n = 0; n < count / WRITERS; n++) {
        const name = own[n % own.length] ?? '';
        const done = await at.request('PUT', `${CONFIG_MAPS}/${name}`, configMap(name, `${latest.get(name)}`));
        assert.equal(done.status, 200, done.body);
        note(name, done.body);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, (_, i) => writer(i)));
    revisions.sort((a, b) => a - b);
  }

  function note(name: string, body: string): void {
    const { metadata } = JSON.parse(body) as { metadata: { resourceVersion: string } };
    latest.set(name, metadata.resourceVersion);
    revisions.push(Number(metadata.resourceVersion));
  }
}

const configMap = (name: string, version: string): unknown => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { version, padding: PADDING },
});

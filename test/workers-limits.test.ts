// Limits of a server with two worker processes are those of one server, wherever its connections are. And its debug pages show
// what happens in both.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import type { ClientHttp2Session, ClientHttp2Stream } from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pollUntil } from '../src/lib/testing/poll-until.js';
import { startTestServer, type TestServer } from './support/server.js';
import { connectToBoth } from './support/worker-processes.js';

const LIMIT = 20;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

class Cluster {
  server: TestServer | undefined;
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-limits-'));
  readonly sessions: ClientHttp2Session[] = [];

  async start(flags: readonly string[]): Promise<void> {
    const tokens = path.join(this.folder, 'tokens.csv');
    fs.writeFileSync(tokens, 'writing,writer,w\n');
    const common = ['--workers=2', `--token-auth-file=${tokens}`, '--http2-max-streams-per-connection=1000'];
    this.server = await startTestServer({ flags: [...common, ...flags] });
    await pollUntil(() => this.server?.log().includes('All worker processes have started') === true);
    await this.create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      metadata: { name: 'writers' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'writer' }],
    });
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    await this.server?.stop();
    fs.rmSync(this.folder, { recursive: true, force: true });
  }

  async create(at: string, object: unknown): Promise<void> {
    const answer = await this.server?.request('POST', at, object);
    assert.equal(answer?.status, 201, answer?.body);
  }

  async get(at: string): Promise<string> {
    const answer = await this.server?.request('GET', at);
    assert.equal(answer?.status, 200, answer?.body);
    return answer?.body ?? '';
  }

  /** The sum of a metric's series whose labels have these texts. */
  async metric(name: string, ...labels: readonly string[]): Promise<number> {
    const lines = (await this.get('/metrics')).split('\n').filter((line) => line.startsWith(`${name}{`));
    const wanted = lines.filter((line) => labels.every((label) => line.includes(label)));
    return wanted.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  /** A connection to each of the two workers. */
  async connectToBoth(): Promise<readonly [ClientHttp2Session, ClientHttp2Session]> {
    assert.ok(this.server);
    const both = await connectToBoth(this.server);
    this.sessions.push(...both);
    return both;
  }
}

/** Writes that are under way until they are ended: their bodies are not sent before. */
class LongWrites {
  /** Those whose bodies the server wants. */
  begun = 0;
  readonly #streams: ClientHttp2Stream[] = [];
  readonly statuses: number[] = [];
  readonly #answered: Promise<void>[] = [];

  begin(session: ClientHttp2Session, count: number): void {
    for (let i = 0; i < count; i++) {
      const headers = { ':method': 'POST', ':path': CONFIG_MAPS, authorization: 'Bearer writing' };
      const stream = session.request({ ...headers, 'content-type': 'application/json', expect: '100-continue' });
      stream.on('continue', () => this.begun++);
      stream.on('response', (answer) => this.statuses.push(Number(answer[':status'])));
      stream.on('error', () => undefined);
      stream.resume();
      this.#streams.push(stream);
      this.#answered.push(new Promise((resolve) => stream.on('close', () => resolve())));
    }
  }

  get refused(): number {
    return this.statuses.filter((status) => status === 429).length;
  }

  get served(): number {
    return this.statuses.filter((status) => status === 201).length;
  }

  async end(): Promise<void> {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'long-' } };
    for (const stream of this.#streams) if (!stream.closed) stream.end(JSON.stringify(object));
    await Promise.all(this.#answered);
  }
}

const isWithinATenth = (seats: number, limit: number): boolean => seats >= limit * 0.9 && seats <= limit * 1.1;

describe('limits in flight of two workers', { timeout: 120_000 }, () => {
  const cluster = new Cluster();
  before(() =>
    cluster.start([
      '--enable-priority-and-fairness=false',
      `--max-requests-inflight=${LIMIT}`,
      `--max-mutating-requests-inflight=${LIMIT}`,
    ]),
  );
  after(() => cluster.stop());

  const inFlight = (): Promise<number> =>
    cluster.metric('apiserver_current_inflight_requests', 'request_kind="mutating"');
  const decided = (writes: LongWrites, count: number): Promise<unknown> =>
    pollUntil(() => writes.begun + writes.refused === count);

  it('one connection has all of the limit', async () => {
    const [one] = await cluster.connectToBoth();
    const writes = new LongWrites();
    writes.begin(one, LIMIT + 10);
    await decided(writes, LIMIT + 10);
    await writes.end();
    assert.ok(isWithinATenth(writes.served, LIMIT), `${writes.served} at once`);
    assert.equal(writes.served + writes.refused, LIMIT + 10);
  });

  it('connections to both have no more together', async () => {
    await pollUntil(async () => (await inFlight()) === 0);
    const both = await cluster.connectToBoth();
    const writes = new LongWrites();
    for (const session of both) writes.begin(session, LIMIT);
    await decided(writes, 2 * LIMIT);
    await writes.end();
    assert.ok(isWithinATenth(writes.served, LIMIT), `${writes.served} at once`);
  });

  it('what one has used is there for the other afterwards', async () => {
    await pollUntil(async () => (await inFlight()) === 0);
    for (const session of await cluster.connectToBoth()) {
      const writes = new LongWrites();
      writes.begin(session, LIMIT - 2);
      await decided(writes, LIMIT - 2);
      await writes.end();
      assert.deepEqual([writes.served, writes.refused], [LIMIT - 2, 0]);
      await pollUntil(async () => (await inFlight()) === 0);
    }
  });
});

describe('seats of a priority level of two workers', { timeout: 120_000 }, () => {
  const cluster = new Cluster();
  before(() => cluster.start(['--max-requests-inflight=40', '--max-mutating-requests-inflight=40']));
  after(() => cluster.stop());

  const addLevel = async (name: string, limitResponse: unknown, precedence: number): Promise<number> => {
    await cluster.create('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations', {
      metadata: { name },
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 100, lendablePercent: 0, borrowingLimitPercent: 0, limitResponse },
      },
    });
    await cluster.create('/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas', {
      metadata: { name },
      spec: {
        priorityLevelConfiguration: { name },
        matchingPrecedence: precedence,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: 'writer' } }],
            resourceRules: [{ verbs: ['create'], apiGroups: [''], resources: ['configmaps'], namespaces: ['*'] }],
          },
        ],
      },
    });
    // Both know the level and where requests belong: one of each reaches it.
    for (const session of await cluster.connectToBoth()) {
      await pollUntil(async () => {
        const earlier = await dispatched(name);
        const writes = new LongWrites();
        writes.begin(session, 1);
        await writes.end();
        return (await dispatched(name)) > earlier;
      });
    }
    return cluster.metric('apiserver_flowcontrol_nominal_limit_seats', `priority_level="${name}"`);
  };
  const ofLevel = (metric: string, name: string): Promise<number> =>
    cluster.metric(`apiserver_flowcontrol_${metric}`, `priority_level="${name}"`);
  const dispatched = (name: string): Promise<number> => ofLevel('dispatched_requests_total', name);
  const executing = (name: string): Promise<number> => ofLevel('current_executing_requests', name);
  const waiting = (name: string): Promise<number> => ofLevel('current_inqueue_requests', name);

  it('one connection has all seats, and connections to both have no more', async () => {
    const seats = await addLevel('refusing', { type: 'Reject' }, 100);
    assert.ok(seats > 10, String(seats));
    const [one, two] = await cluster.connectToBoth();
    for (const sessions of [[one], [two], [one, two]]) {
      const writes = new LongWrites();
      for (const session of sessions) writes.begin(session, seats + 5);
      const count = sessions.length * (seats + 5);
      await pollUntil(async () => (await executing('refusing')) + writes.refused === count);
      const atOnce = await executing('refusing');
      await writes.end();
      assert.ok(isWithinATenth(atOnce, seats), `${atOnce} of ${seats}`);
      assert.equal(writes.served, atOnce);
    }
  });

  it('seats that become free at one are for those that wait at the other, and dumps show both', async () => {
    const queuing = { queues: 8, handSize: 2, queueLengthLimit: 100 };
    const seats = await addLevel('queuing', { type: 'Queue', queuing }, 90);
    const [one, two] = await cluster.connectToBoth();
    const first = new LongWrites();
    first.begin(one, seats);
    await pollUntil(async () => (await executing('queuing')) === seats);
    const second = new LongWrites();
    second.begin(two, 7);
    await pollUntil(async () => (await waiting('queuing')) === 7);
    const rowOf = async (dump: string): Promise<readonly string[]> => {
      const lines = (await cluster.get(`/debug/api_priority_and_fairness/dump_${dump}`)).split('\n');
      return lines.filter((line) => line.startsWith('queuing,'));
    };
    const levels = await rowOf('priority_levels');
    assert.equal(levels.length, 1);
    assert.deepEqual(levels[0]?.split(/, +/).slice(2, 6), ['false', 'false', '7', String(seats)]);
    assert.equal((await rowOf('queues')).length, 8);
    assert.equal((await rowOf('requests')).length, seats + 7);
    assert.ok((await executing('queuing')) <= seats);
    await first.end();
    await pollUntil(async () => (await executing('queuing')) === 7);
    await second.end();
    assert.deepEqual([first.served, second.served], [seats, 7]);
  });
});

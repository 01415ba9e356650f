import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { DEADLINE_EXCEEDED, GrpcError, UNAVAILABLE } from '../../outbound/grpc-error.js';
import { callEtcd, METHODS } from './client.js';
import { Endpoints } from './endpoints.js';
import type { MemberConnection } from './member.js';
import { EtcdWatches } from './watches.js';

const NAMES = ['a', 'b', 'c'];
const ANSWER = Buffer.from('answer');

describe('the members of an etcd', () => {
  it('share calls by round robin', async () => {
    const { members, read } = await connected();
    for (let i = 0; i < 9; i++) await read();
    assert.deepEqual(
      members.map(({ answered }) => answered),
      [3, 3, 3],
    );
  });

  it('are not waited for while another answers', async () => {
    const played = play();
    played.members[0].accepts = 'hangs';
    await played.clock.move(0);
    for (let i = 0; i < 6; i++) assert.equal(await played.read(), ANSWER);
    assert.equal(played.members[0].answered, 0);
  });

  it('are left within a second when they hang, and used again when they answer', async () => {
    const { members, read, clock } = await connected();
    members[0].hangs = true;
    await clock.move(900);
    for (let i = 0; i < 9; i++) await read();
    assert.equal(members[0].answered, 0);
    members[0].resume();
    await clock.move(200);
    for (let i = 0; i < 9; i++) await read();
    assert.equal(members[0].answered, 3);
  });

  it('are left with the reads that were under way when they hang', async () => {
    const { members, read, clock } = await connected();
    members[0].hangs = true;
    const reads = Promise.all([read(), read(), read()]);
    await clock.move(1000);
    assert.deepEqual(await reads, [ANSWER, ANSWER, ANSWER]);
  });

  it('keep a write under way, whose answer may still come', async () => {
    const { members, endpoints, clock } = await connected();
    for (const member of members) member.hangs = true;
    const write = callEtcd(endpoints, METHODS.txn, Buffer.alloc(0), { repeatable: false });
    await clock.move(2000);
    for (const member of members) member.resume();
    assert.equal(await write, ANSWER);
    assert.equal(
      members.reduce((sum, member) => sum + member.asked, 0),
      1,
    );
  });

  it('get fewer calls while they are slow', async () => {
    const { members, read, clock } = await connected();
    members[0].hangs = true;
    const slow = [read(), read(), read()];
    await clock.move(0);
    for (let i = 0; i < 10; i++) await read();
    assert.equal(members[0].asked, 1);
    members[0].resume();
    await Promise.all(slow);
  });

  it('rest after a call that timed out, longer each time', async () => {
    const { members, endpoints, clock } = await connected();
    members[0].failsWith = new GrpcError({
      status: DEADLINE_EXCEEDED,
      message: 'context deadline exceeded',
      sent: true,
    });
    const write = (): Promise<unknown> =>
      callEtcd(endpoints, METHODS.txn, Buffer.alloc(0), { repeatable: false }).catch(() => undefined);
    /** Milliseconds until the member gets a call again. */
    const restMs = async (): Promise<number> => {
      let passedMs = 0;
      for (const asked = members[0].asked; members[0].asked === asked; passedMs += 50) {
        await clock.move(50);
        for (let i = 0; i < 3; i++) await write();
      }
      return passedMs;
    };
    for (let i = 0; i < 3; i++) await write();
    const [first, second] = [await restMs(), await restMs()];
    assert.ok(first >= 200 && second > first, `${first} ms, then ${second} ms`);
  });

  it('are not silent when this process itself was blocked', async () => {
    const { members, endpoints, clock } = await connected();
    for (const member of members) member.hangs = true;
    await clock.move(150);
    clock.skip(5_000);
    await clock.move(150);
    assert.equal(endpoints.members.filter(({ isSilent }) => isSilent).length, 0);
  });

  it('share the watches, and take over those of one that hangs', async () => {
    const { members, endpoints, clock } = await connected();
    const watches = new EtcdWatches(endpoints, clock, undefined);
    const receiver = { events: () => undefined, progress: () => undefined, failed: () => undefined };
    for (let i = 0; i < 6; i++) {
      watches.add({ prefix: `/${i}/`, startRevision: 1, previous: false }, receiver);
    }
    await clock.move(0);
    assert.deepEqual(watchesOf(members), [2, 2, 2]);
    members[0].hangs = true;
    await clock.move(900);
    assert.deepEqual(watchesOf(members), [0, 3, 3]);
    members[0].resume();
    await clock.move(900);
    assert.deepEqual(watchesOf(members), [2, 2, 2]);
    watches.close();
  });

  it('fail a call with the reason when none can be reached', async () => {
    const { members, read, clock } = play();
    for (const member of members) member.accepts = 'refuses';
    const failed = assert.rejects(read(), { code: 'unavailable', message: 'etcd is unavailable: connection refused' });
    await clock.move(5_000);
    await failed;
  });
});

/** What is due is done, and what came over sockets is read after it, as in Node's event loop. */
class SkippingClock extends ManualClock {
  #skippedMs = 0;

  override now(): number {
    return super.now() + this.#skippedMs;
  }

  /** Time passes in which this process does nothing. */
  skip(ms: number): void {
    this.#skippedMs += ms;
  }
}

class PlayedMember {
  accepts: 'yes' | 'hangs' | 'refuses' = 'yes';
  hangs = false;
  failsWith: GrpcError | undefined;
  asked = 0;
  answered = 0;
  watches = 0;
  #held: (() => void)[] = [];

  connect(): Promise<MemberConnection> {
    if (this.accepts === 'hangs') return new Promise(() => undefined);
    if (this.accepts === 'refuses') {
      return Promise.reject(new GrpcError({ status: UNAVAILABLE, message: 'connection refused', sent: false }));
    }
    return Promise.resolve({
      peer: { address: '', port: 0 },
      usable: true,
      onClose: () => undefined,
      close: () => undefined,
      call: (method) => this.#call(method),
      stream: () => this.#stream(),
    });
  }

  resume(): void {
    this.hangs = false;
    for (const answer of this.#held.splice(0)) answer();
  }

  async #call(method: string): Promise<Buffer> {
    const isProbe = method.includes('Health');
    if (!isProbe) this.asked++;
    if (this.hangs) await new Promise<void>((resolve) => this.#held.push(resolve));
    if (isProbe) throw new GrpcError({ status: 12, message: 'unknown service', sent: true });
    if (this.failsWith !== undefined) throw this.failsWith;
    this.answered++;
    return ANSWER;
  }

  #stream(): ReturnType<MemberConnection['stream']> {
    let watches = 0;
    const change = (by: number): boolean => {
      watches += by;
      this.watches += by;
      return true;
    };
    return {
      // A request to create is field 1, one to cancel field 2.
      send: (message) => change(message[0] === 0x0a ? 1 : -1),
      onceDrained: () => undefined,
      close: () => void change(-watches),
    };
  }
}

const watchesOf = (members: readonly PlayedMember[]): number[] => members.map((member) => member.watches);

interface Played {
  readonly members: readonly [PlayedMember, ...PlayedMember[]];
  readonly endpoints: Endpoints;
  readonly clock: SkippingClock;
  readonly read: () => Promise<Buffer>;
}

function play(): Played {
  const clock = new SkippingClock();
  const members: [PlayedMember, ...PlayedMember[]] = [new PlayedMember(), new PlayedMember(), new PlayedMember()];
  const connect = (url: string): Promise<MemberConnection> =>
    (members[NAMES.indexOf(new URL(url).hostname)] as PlayedMember).connect();
  const pause = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  // Members are played before the first is connected to.
  let opened: Endpoints | undefined;
  const open = (): Endpoints => (opened ??= new Endpoints({ servers: NAMES, connect, clock, pause }));
  return {
    members,
    get endpoints() {
      return open();
    },
    clock,
    read: () => callEtcd(open(), METHODS.range, Buffer.alloc(0), { repeatable: true }),
  };
}

async function connected(): Promise<Played> {
  const played = play();
  assert.equal(played.endpoints.several, true);
  await played.clock.move(0);
  return played;
}

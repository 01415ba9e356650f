import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../lib/testing/manual-clock.js';
import { GrpcError } from './grpc-error.js';
import { type GrpcCaller, LazyGrpc } from './lazy-grpc.js';

const message = Buffer.from('message');
const answering = (call: GrpcCaller['call']): GrpcCaller => ({ usable: true, call, close: () => undefined });

function client(connect: () => Promise<GrpcCaller>): { calls: LazyGrpc; clock: ManualClock; seen: string[] } {
  const clock = new ManualClock();
  const seen: string[] = [];
  const observe = (method: string, status: string): void => void seen.push(`${method} ${status}`);
  return { calls: new LazyGrpc({ connect, clock, observe }), clock, seen };
}

test('a call waits for the service to be there, and notices its return', async () => {
  let there = false;
  const { calls, clock, seen } = client(async () => {
    if (!there) throw new Error('connection refused');
    return answering(async () => Buffer.from('yes'));
  });
  const answer = calls.call('/a', message, 1000);
  await clock.move(300);
  there = true;
  await clock.move(600);
  assert.equal(String(await answer), 'yes');
  assert.deepEqual(seen, ['/a OK']);
});

test('it ends when its time is over, whether nobody is there or nobody answers', async () => {
  const dialing = 'dial unix /s: connect: connection refused';
  const refused = client(() => Promise.reject(new GrpcError({ status: 14, message: 'away', sent: false, dialing })));
  const hanging = client(() => new Promise(() => undefined));
  for (const [{ calls, clock, seen }, reported] of [
    [
      refused,
      'latest balancer error: connection error: desc = "transport: Error while dialing: dial unix /s: connect: connection refused"',
    ],
    [hanging, 'context deadline exceeded while waiting for connections to become ready'],
  ] as const) {
    const ended = assert.rejects(calls.call('/a', message, 1000), {
      status: 4,
      sent: false,
      message: reported,
    });
    await clock.move(0);
    await clock.move(1100);
    await ended;
    assert.deepEqual(seen, ['/a DeadlineExceeded']);
  }
});

test('a refusal is reported, and a call that the service cannot have seen is retried', async () => {
  const refusing = answering(() => Promise.reject(new GrpcError({ status: 9, message: 'no', sent: true })));
  const { calls, seen } = client(async () => refusing);
  await assert.rejects(calls.call('/a', message, 1000), { status: 9, message: 'no' });
  assert.deepEqual(seen, ['/a FailedPrecondition']);
  let tries = 0;
  const losing = answering(async () => {
    if (++tries === 1) throw new GrpcError({ status: 14, message: 'not connected', sent: false });
    return Buffer.from('yes');
  });
  const second = client(async () => losing);
  const answer = second.calls.call('/a', message, 1000);
  await second.clock.move(0);
  await second.clock.move(200);
  assert.equal(String(await answer), 'yes');
});

test('a connection that broke is opened again, one that stands is kept, and a closed client calls nobody', async () => {
  let opened = 0;
  let usable = true;
  const { calls, clock } = client(async () => {
    opened++;
    return {
      get usable() {
        return usable;
      },
      call: async () => Buffer.from('yes'),
      close: () => undefined,
    };
  });
  await calls.call('/a', message, 1000);
  await calls.call('/a', message, 1000);
  assert.equal(opened, 1);
  usable = false;
  const third = calls.call('/a', message, 1000);
  await clock.move(0);
  await third;
  assert.equal(opened, 2);
  calls.close();
  await assert.rejects(calls.call('/a', message, 1000), { status: 4 });
  assert.equal(opened, 2);
});

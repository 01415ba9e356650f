import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HEALTH_CHECK_REQUEST, HEALTH_CHECK_RESPONSE } from '../../kv/etcd/messages/maintenance.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';
import { GrpcFault } from '../grpc/fault.js';
import type { ServerCall } from '../grpc/server.js';
import { healthService } from './health.js';

const SERVING = 1;
const NOT_SERVING = 2;
const SERVICE_UNKNOWN = 3;
const statusOf = (answer: Buffer): number => HEALTH_CHECK_RESPONSE.decode(answer).status;

it('tells whether the server is well, and knows no services by name', async () => {
  let isWell = true;
  const { Check } = healthService(async () => isWell, new ManualClock()).unary;
  const check = async (service: string): Promise<number> =>
    statusOf((await Check?.(HEALTH_CHECK_REQUEST.encode({ service }))) as Buffer);
  assert.equal(await check(''), SERVING);
  isWell = false;
  assert.equal(await check(''), NOT_SERVING);
  await assert.rejects(check('other'), (error) => error instanceof GrpcFault && error.message === 'unknown service');
});

it('sends a watch what changes, until its client is gone', async () => {
  let isWell = true;
  const clock = new ManualClock();
  const watch = async (service: string): Promise<{ sent: number[]; leave: () => Promise<void> }> => {
    const sent: number[] = [];
    const abort = new AbortController();
    const call = {
      messages: (async function* () {
        yield HEALTH_CHECK_REQUEST.encode({ service });
      })(),
      send: (pieces: readonly Buffer[]) => sent.push(statusOf(Buffer.concat(pieces))) > 0,
      signal: abort.signal,
    } as unknown as ServerCall;
    const ended = healthService(async () => isWell, clock).streams?.['Watch']?.(call);
    await clock.move(0);
    const leave = async (): Promise<void> => {
      abort.abort();
      await clock.move(1_000);
      await ended;
    };
    return { sent, leave };
  };
  const [whole, other] = [await watch(''), await watch('other')];
  await clock.move(3_000);
  isWell = false;
  await clock.move(1_000);
  isWell = true;
  await clock.move(1_000);
  assert.deepEqual(whole.sent, [SERVING, NOT_SERVING, SERVING]);
  assert.deepEqual(other.sent, [SERVICE_UNKNOWN]);
  await Promise.all([whole.leave(), other.leave()]);
});

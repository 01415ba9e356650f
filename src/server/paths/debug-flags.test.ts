import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { debugFlags } from './debug-flags.js';

test('the verbosity of the log is set by PUT', async () => {
  const set: number[] = [];
  const handler = debugFlags((verbosity) => Promise.resolve(void set.push(verbosity)));
  const send = async (method: string, path: string, body = '') => {
    const request = testRequest(method, path, { body: () => Promise.resolve(Buffer.from(body)) });
    const answer = await handler(request, path);
    return answer && [answer.status, answer.body];
  };
  assert.deepEqual(await send('PUT', '/debug/flags/v', '4'), [200, 'successfully set klog.logging.verbosity to 4\n']);
  assert.deepEqual(set, [4]);
  assert.deepEqual(await send('PUT', '/debug/flags/v', 'x'), [
    400,
    'failed set klog.logging.verbosity x: strconv.ParseInt: parsing "x": invalid syntax\n',
  ]);
  assert.deepEqual(await send('GET', '/debug/flags/v'), [406, 'unsupported http method\n']);
  assert.deepEqual(set, [4]);
  assert.equal((await send('GET', '/debug/flags'))?.[0], 200);
  assert.equal((await send('GET', '/debug/flags/other'))?.[0], 200);
  assert.equal(await send('GET', '/debug/flagsv'), undefined);
});

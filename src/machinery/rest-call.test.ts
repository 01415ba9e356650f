// runs-on: every-node
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { describe, it } from 'node:test';
import zlib from 'node:zlib';
import type { OutboundRequest, OutboundResponse } from '../outbound/messages.js';
import { OutboundError } from '../outbound/outbound-error.js';
import { restCall } from './rest-call.js';
import { StatusError } from './status.js';

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
  readonly error?: Error;
}

/** Sends the answers in order, the last one again and again. */
function ask(...answers: readonly Answer[]) {
  const requests: string[] = [];
  const waited: number[] = [];
  const observed: string[] = [];
  const client = {
    async request({ method, url, headers = {} }: OutboundRequest): Promise<OutboundResponse> {
      requests.push(`${method} ${url.href}${headers['authorization'] === undefined ? '' : ' known'}`);
      const answer = answers[Math.min(requests.length, answers.length) - 1] ?? {};
      if (answer.error !== undefined) throw answer.error;
      return {
        status: answer.status ?? 200,
        headers: { 'content-type': 'application/json', ...answer.headers },
        rawHeaders: [],
        body: Readable.from([Buffer.from(answer.body ?? '')]),
      };
    },
  };
  const called = restCall({
    client,
    url: new URL('https://hook.test/x?timeout=5s'),
    body: '{}',
    headers: { authorization: 'Bearer secret' },
    timeoutMs: 5000,
    wait: async (ms) => void waited.push(Math.round(ms)),
    observe: {
      answered: (status, method, host) => void observed.push(`${method} ${host} ${status ?? 'none'}`),
      took: (method, host, seconds) => void observed.push(`${method} ${host} took ${seconds < 5}`),
    },
  });
  return { called, requests, waited, observed };
}

const refused = async (...answers: readonly Answer[]): Promise<string> => {
  const error: unknown = await ask(...answers).called.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof Error);
  return error.message;
};

describe('a call to a server of this kind', () => {
  it('is not answered under a media type that is none', async () => {
    assert.equal(
      await refused({ headers: { 'content-type': ';;' }, body: '{}' }),
      'Internal error occurred: mime: no media type',
    );
  });

  it('is observed attempt by attempt, and as a whole', async () => {
    const again = ask({ status: 429, headers: { 'retry-after': '1' } }, { body: '{}' });
    await again.called;
    assert.deepEqual(again.observed, ['POST hook.test 429', 'POST hook.test 200', 'POST hook.test took true']);
    const failing = ask({ error: new OutboundError('dial', 'refused') });
    await assert.rejects(failing.called);
    assert.deepEqual(failing.observed, ['POST hook.test none', 'POST hook.test took true']);
  });

  it('reports a connection that fails as kube-apiserver does', async () => {
    const error = new OutboundError('dial', 'dial tcp 127.0.0.1:1: connect: connection refused');
    assert.equal(
      await refused({ error }),
      'Post "https://hook.test/x?timeout=5s": dial tcp 127.0.0.1:1: connect: connection refused',
    );
    const late = OutboundError.deadlineExceeded();
    assert.equal(await refused({ error: late }), 'Post "https://hook.test/x?timeout=5s": context deadline exceeded');
  });

  it('understands a Status, and of other refusals the code', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'go away', code: 403 };
    assert.equal(await refused({ status: 403, body: JSON.stringify(status) }), 'go away');
    assert.equal(await refused({ status: 404, body: 'lost' }), 'the server could not find the requested resource');
    assert.match(
      await refused({ status: 500, body: 'it broke' }),
      /^an error on the server \("unknown"\) has prevented/,
    );
    const text = { status: 500, headers: { 'content-type': 'text/plain' }, body: ' it broke\n' };
    assert.match(await refused(text), /^an error on the server \("it broke"\)/);
    const failure = await ask(text).called.catch((error: unknown) => error);
    assert.ok(failure instanceof StatusError);
    assert.deepEqual(failure.details?.causes, [{ reason: 'UnexpectedServerResponse', message: 'it broke' }]);
    assert.match(await refused({ status: 418 }), /^the server responded with the status code 418 but did not/);
  });

  it('retries after Retry-After, eleven times in all', async () => {
    const busy = { status: 503, headers: { 'retry-after': '1' } };
    const retried = ask(busy, busy, { body: 'done' });
    assert.equal((await retried.called).body.toString(), 'done');
    assert.deepEqual([retried.requests.length, retried.waited], [3, [1000, 1000]]);
    const vain = ask(busy);
    const still = await vain.called.catch((error: unknown) => error);
    assert.ok(still instanceof StatusError);
    assert.match(still.message, /currently unable to handle the request/);
    assert.equal(still.details?.retryAfterSeconds, 1, 'the client may retry later');
    assert.equal(vain.requests.length, 11);
    const late = ask({ status: 503, headers: { 'retry-after': '5' } });
    await assert.rejects(late.called, /context deadline exceeded$/);
    assert.equal(late.requests.length, 1, 'there is no time left after that');
    const once = ask({ status: 503, headers: { 'retry-after': 'soon' } });
    await assert.rejects(once.called);
    assert.equal(once.requests.length, 1);
  });

  it('follows redirects, without its credentials to others, and not for ever', async () => {
    const to = (location: string, status = 307): Answer => ({ status, headers: { location } });
    const kept = ask(to('/y'), { body: 'there' });
    assert.equal((await kept.called).body.toString(), 'there');
    assert.deepEqual(kept.requests, ['POST https://hook.test/x?timeout=5s known', 'POST https://hook.test/y known']);
    const elsewhere = ask(to('https://other.test/', 301), { body: 'there' });
    await elsewhere.called;
    assert.deepEqual(elsewhere.requests[1], 'GET https://other.test/');
    assert.equal(await refused(to('/x?timeout=5s')), 'Post "/x?timeout=5s": stopped after 10 redirects');
    assert.match(await refused({ status: 302 }), /the status code 302 but did not return more information$/);
    assert.equal(await refused({ headers: { 'content-type': '/' } }), 'Internal error occurred: mime: no media type');
  });

  it('reads no more of an answer than is wanted', async () => {
    const answered = (maxBytes: number, gzipped: boolean) => {
      const body = Buffer.from('x'.repeat(1000));
      return restCall({
        client: {
          request: async () => ({
            status: 200,
            headers: gzipped ? { 'content-encoding': 'gzip' } : {},
            rawHeaders: [],
            body: Readable.from([gzipped ? zlib.gzipSync(body) : body]),
          }),
        },
        url: new URL('https://hook.test/x'),
        body: '{}',
        timeoutMs: 5000,
        maxBytes,
        wait: async () => undefined,
      });
    };
    for (const gzipped of [false, true]) {
      assert.equal((await answered(1000, gzipped)).body.length, 1000);
      await assert.rejects(answered(999, gzipped), /unexpected error when reading response body/);
    }
  });

  it('decompresses gzip, up to a limit', async () => {
    const gzipped = { headers: { 'content-encoding': 'gzip' }, body: zlib.gzipSync('plain') };
    assert.equal((await ask(gzipped).called).body.toString(), 'plain');
    const bomb = { ...gzipped, body: zlib.gzipSync(Buffer.alloc(20 * 1024 * 1024)) };
    assert.match(await refused(bomb), /^unexpected error when reading response body/);
  });
});

// runs-on: every-node
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import { cleanPath } from '../text/clean-path.js';
import { type HttpResponse, isStream } from '../http/http.js';
import { serveFile } from './serve-file.js';

const TEN = '0123456789';
const MODIFIED = 'Tue, 01 Jan 2030 00:00:00 GMT';

describe('files', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'binnacle-files-'));
  before(() => {
    const write = (name: string, content: string | Buffer): void => fs.writeFileSync(path.join(folder, name), content);
    write('ten.log', TEN);
    write('empty.log', '');
    write('old.gz', Buffer.from([0x1f, 0x8b, 8, 0]));
    write('page.html', '<b>');
    write('with space & "quotes".log', 'x');
    write('1:2', 'x');
    write('large.log', 'l'.repeat(300_000));
    fs.mkdirSync(path.join(folder, 'pods'));
    write('pods/a.log', 'a');
    fs.mkdirSync(path.join(folder, 'site'));
    write('site/index.html', '<html>');
    const time = new Date(MODIFIED);
    for (const name of ['ten.log', 'empty.log', 'pods']) fs.utimesSync(path.join(folder, name), time, time);
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  const get = (requested: string, headers: Record<string, string> = {}, search = ''): Promise<HttpResponse> =>
    serveFile(testRequest('GET', `${requested}${search}`, { headers }), requested, cleanPath(folder, requested));
  const text = async ({ body }: HttpResponse): Promise<string> => {
    if (!isStream(body)) return String(body ?? '');
    const pieces: Buffer[] = [];
    const signal = new AbortController().signal;
    const write = (chunk: Buffer | string): boolean => pieces.push(Buffer.from(chunk)) < 0;
    await body.stream({ write, drained: async () => undefined, pendingBytes: 0, signal });
    return Buffer.concat(pieces).toString();
  };
  const got = async (requested: string, headers: Record<string, string> = {}): Promise<[number, string]> => {
    const answer = await get(requested, headers);
    return [answer.status, await text(answer)];
  };

  it('are answered whole, with when they were changed, how long they are and what they are', async () => {
    const answer = await get('/ten.log');
    assert.deepEqual(answer.headers, {
      'last-modified': MODIFIED,
      'content-type': 'text/plain; charset=utf-8',
      'accept-ranges': 'bytes',
      'content-length': '10',
    });
    assert.deepEqual([answer.status, await text(answer)], [200, TEN]);
    assert.equal((await text(await get('/large.log'))).length, 300_000);
    const typeOf = async (requested: string): Promise<unknown> => {
      const file = await get(requested);
      await text(file);
      return file.headers['content-type'];
    };
    assert.equal(await typeOf('/old.gz'), 'application/x-gzip');
    assert.equal(await typeOf('/page.html'), 'text/html; charset=utf-8');
  });

  it('of a folder are listed in order, their names escaped', async () => {
    const [status, page] = await got('/');
    assert.equal(status, 200);
    assert.equal(
      page,
      `<!doctype html>
<meta name="viewport" content="width=device-width">
<pre>
<a href="./1:2">1:2</a>
<a href="empty.log">empty.log</a>
<a href="large.log">large.log</a>
<a href="old.gz">old.gz</a>
<a href="page.html">page.html</a>
<a href="pods/">pods/</a>
<a href="site/">site/</a>
<a href="ten.log">ten.log</a>
<a href="with%20space%20&%20%22quotes%22.log">with space &amp; &#34;quotes&#34;.log</a>
</pre>
`,
    );
  });

  it('lead to the right address: folders with a slash, an index without its name', async () => {
    const redirected = async (requested: string, search = ''): Promise<unknown[]> => {
      const { status, headers } = await get(requested, {}, search);
      return [status, headers['location']];
    };
    assert.deepEqual(await redirected('/pods'), [301, 'pods/']);
    assert.deepEqual(await redirected('/pods', '?a=b'), [301, 'pods/?a=b']);
    assert.deepEqual(await redirected('/site/index.html'), [301, './']);
    assert.deepEqual(await got('/site/'), [200, '<html>']);
  });

  it('that are not there, not readable or lead out of the folder are refused', async () => {
    assert.deepEqual(await got('/none.log'), [404, '404 page not found\n']);
    assert.deepEqual(await got('/ten.log/below'), [404, '404 page not found\n']);
    assert.deepEqual(await got(`/${'n'.repeat(300)}`), [404, 'file not found\n']);
    assert.deepEqual(await got('/../ten.log'), [400, 'invalid URL path\n']);
    assert.deepEqual(await got('/pods/..\\..\\x'), [400, 'invalid URL path\n']);
    assert.deepEqual(await got('/a\0b'), [500, '500 Internal Server Error\n']);
    assert.equal((await got('/pods/..a'))[0], 404, 'two dots within a name are no way up');
  });

  it('come in parts when ranges are requested', async () => {
    const rows: [range: string, status: number, body: string, contentRange: string | undefined][] = [
      ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-2', 206, '89', 'bytes 8-9/10'],
      ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
      ['bytes=-99', 206, TEN, 'bytes 0-9/10'],
      ['bytes=0-9,0-9', 200, TEN, undefined],
      ['bytes=10-', 416, 'invalid range: failed to overlap\n', 'bytes */10'],
      ['bytes=3-1', 416, 'invalid range\n', undefined],
      ['bytes=x', 416, 'invalid range\n', undefined],
      ['lines=1-2', 416, 'invalid range\n', undefined],
    ];
    for (const [range, status, body, contentRange] of rows) {
      const answer = await get('/ten.log', { range });
      assert.deepEqual(
        [answer.status, await text(answer), answer.headers['content-range']],
        [status, body, contentRange],
        range,
      );
    }
    assert.deepEqual(await got('/empty.log', { range: 'bytes=0-5' }), [200, '']);
    const several = await get('/ten.log', { range: 'bytes=0-1, 8-' });
    const boundary = /^multipart\/byteranges; boundary=([0-9a-f]{60})$/.exec(String(several.headers['content-type']));
    const body = await text(several);
    const part = (range: string, bytes: string): string =>
      `--${boundary?.[1]}\r\nContent-Range: bytes ${range}/10\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${bytes}\r\n`;
    assert.equal(body, `${part('0-1', '01')}${part('8-9', '89')}--${boundary?.[1]}--\r\n`);
    assert.equal(several.headers['content-length'], String(body.length));
  });

  it('are not sent again when they are as the client has them', async () => {
    const [EARLIER, LATER] = ['Mon, 31 Dec 2029 23:59:59 GMT', 'Tuesday, 01-Jan-30 00:00:01 GMT'];
    const rows: [headers: Record<string, string>, status: number][] = [
      [{ 'if-modified-since': MODIFIED }, 304],
      [{ 'if-modified-since': LATER }, 304],
      [{ 'if-modified-since': 'Tue Jan  1 00:00:00 2030' }, 304],
      [{ 'if-modified-since': EARLIER }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-unmodified-since': EARLIER }, 412],
      [{ 'if-unmodified-since': MODIFIED }, 200],
      [{ 'if-match': '"a"' }, 412],
      [{ 'if-match': '"a", *' }, 200],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"a"', 'if-modified-since': MODIFIED }, 200],
      [{ range: 'bytes=0-1', 'if-range': MODIFIED }, 206],
      [{ range: 'bytes=0-1', 'if-range': EARLIER }, 200],
      [{ range: 'bytes=0-1', 'if-range': '"a"' }, 200],
    ];
    for (const [headers, status] of rows)
      assert.equal((await got('/ten.log', headers))[0], status, JSON.stringify(headers));
    assert.equal((await got('/pods/', { 'if-modified-since': MODIFIED }))[0], 304);
    assert.equal((await got('/pods/', { 'if-modified-since': EARLIER }))[0], 200);
  });

  it('are read no faster than the client reads them, and closed when it goes away', async () => {
    const gone = new AbortController();
    const answer = await get('/large.log');
    assert.ok(isStream(answer.body));
    let written = 0;
    let waiting = (): void => undefined;
    const stalled = new Promise<void>((resolve) => (waiting = resolve));
    let goOn = (): void => undefined;
    const streamed = answer.body.stream({
      write: (chunk) => (written += chunk.length) < 0,
      drained: () => new Promise((resolve) => ((goOn = resolve), waiting())),
      pendingBytes: 0,
      signal: gone.signal,
    });
    await stalled;
    assert.equal(written, 64 * 1024);
    gone.abort();
    goOn();
    await streamed;
    assert.equal(written, 64 * 1024);
  });
});

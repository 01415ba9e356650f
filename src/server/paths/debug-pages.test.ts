import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testRequest } from '../../filters/testing.js';
import type { HttpResponse } from '../../lib/http/http.js';
import { parseCommandLine } from '../../options/parse-command-line.js';
import { flagValues } from '../../options/flag-values.js';
import { flagsPage, statusPage } from './debug-pages.js';
import type { PathHandler } from './paths.js';

function text(body: HttpResponse['body']): string {
  assert.ok(typeof body === 'string');
  return body;
}

const call = (handler: PathHandler, path: string, accept = 'text/plain'): HttpResponse =>
  handler(testRequest('GET', path, { headers: { accept } }), path) as HttpResponse;

test('flagz names every flag and what it came to', () => {
  const line = parseCommandLine(
    ['--v=3', '--data-dir=x', '--request-timeout=90s', '--runtime-config=api/all=true'],
    {},
  );
  assert.ok(line.kind === 'run');
  const { status, body } = call(
    flagsPage('kube-apiserver', () => flagValues(line.options)),
    '/flagz',
  );
  assert.equal(status, 200);
  const shown = text(body);
  assert.match(shown, /^\nkube-apiserver flags\nWarning: /);
  assert.match(shown, /\nrequest-timeout=1m30s\n/);
  assert.match(shown, /\nprofiling=true\n/);
  assert.match(shown, /\nv=3\n/);
});

test('statusz has versions, since when it is up, and the paths to look at', () => {
  const handler = statusPage({
    startedMs: 0,
    nowMs: () => 3_723_000,
    runtime: 'node22',
    binaryVersion: '1.34.0',
    emulatedVersion: '1.32',
    paths: () => ['/api/v1', '/healthz', '/healthz/etcd', '/metrics', '/openapi/v2'],
  });
  const { body } = call(handler, '/statusz', 'text/plain;charset=utf-8');
  assert.match(text(body), /\nStarted: Thu Jan  1 00:00:00 UTC 1970\n/);
  assert.match(text(body), /\nUp: 1 hr 02 min 03 sec\n/);
  assert.match(text(body), /\nEmulation version: 1\.32\nPaths: \/healthz \/metrics\n$/);
  assert.equal(call(handler, '/statusz', 'application/json').status, 406);
  assert.equal(handler(testRequest('GET', '/else'), '/else'), undefined);
});

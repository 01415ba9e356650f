import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../lib/telemetry/log.js';
import { slowRequests } from './slow-requests.js';
import { answer, testExchange } from './testing.js';

function run(target: string, tookMs: number, userAgent = 'kubelet'): string[] {
  const lines: string[] = [];
  const log = { plain: (line: string) => lines.push(line) } as unknown as Logger;
  const exchange = testExchange('GET', target, { headers: { 'user-agent': userAgent } });
  const threadUse = (sinceMs: number): { busyMs: number; collectingMs: number; longestHoldMs: number } => {
    assert.equal(sinceMs, exchange.startedMs);
    return { busyMs: 480, collectingMs: 45, longestHoldMs: 130 };
  };
  const filter = slowRequests({ log, nowMs: () => exchange.startedMs + tookMs, threadUse });
  exchange.spent('apf-queue-wait', 100);
  exchange.spent('etcd', 30);
  void filter(exchange, () => answer());
  exchange.finish(answer());
  return lines;
}

test('a request of half a second is logged with where its time went', () => {
  assert.deepEqual(run('/api/v1/namespaces/a/pods', 500), [
    'Trace[1]: "list" audit-id:,client:127.0.0.1:1,api-group:,api-version:v1,resource:pods,subresource:,namespace:a,name:,url:/api/v1/namespaces/a/pods,user-agent:kubelet (total time: 500ms):',
    'Trace[1]: ---"apf-queue-wait" 100ms,"etcd" 30ms',
    'Trace[1]: ---"main thread" busy 480ms,collecting garbage 45ms,longest hold 130ms',
    'Trace[1]: [500ms] END',
  ]);
});

test('a quicker one is not, nor a watch', () => {
  assert.deepEqual(run('/api/v1/namespaces/a/pods', 499), []);
  assert.deepEqual(run('/api/v1/namespaces/a/pods?watch=1', 60_000), []);
});

test('what clients choose begins no lines of its own', () => {
  const lines = run('/api/v1/namespaces/a/pods', 700, `x\nI1118 forged${'y'.repeat(10_000)}`);
  assert.equal(lines.length, 4);
  assert.ok(lines.every((line) => !line.includes('\n') && line.length < 1_000));
});

// runs-on: every-node
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HttpRequest } from '../../lib/http/http.js';
import type { RecordedSpan } from '../../tracing/recorded-span.js';
import { SCOPES } from '../../tracing/trace.js';
import { Tracer } from '../../tracing/tracer.js';
import { createLoopback } from './loopback.js';

test('a request of the server to itself is part of the trace it is made for', async () => {
  const spans: RecordedSpan[] = [];
  const tracer = new Tracer({ ratePerMillion: 0, onEnd: (span) => spans.push(span) });
  const root = tracer.root({ name: 'root', scope: SCOPES.http, kind: 'server', auditId: '', baggage: '' });
  let seen: HttpRequest | undefined;
  const { client } = createLoopback(() => (request) => {
    seen = request;
    return { status: 200, headers: {}, body: 'ok' };
  });
  const url = new URL('https://kubernetes.default.svc/review');
  const answer = await client.request({ method: 'POST', url, body: '{}', trace: root });
  answer.body.resume();
  await new Promise((resolve) => answer.body.once('close', resolve));
  const [call] = spans;
  assert.equal(call?.birth.name, 'HTTP POST');
  assert.equal(call?.parentId, root.id);
  assert.equal(call?.attributes['http.status_code'], 200);
  assert.equal(seen?.headers['traceparent'], `00-${root.recording.traceId}-${call?.id ?? ''}-01`);
});

import { silentLogs } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HttpResponse } from '../lib/http/http.js';
import { MetricRegistry } from '../lib/telemetry/metrics.js';
import { MASTERS_GROUP, MONITORING_GROUP } from '../machinery/user.js';
import type { RecordedSpan } from '../tracing/recorded-span.js';
import { SCOPES } from '../tracing/trace.js';
import { Tracer } from '../tracing/tracer.js';
import { buildChain } from './chain.js';
import { InFlight, OpenWatches } from './draining.js';
import type { Exchange } from './exchange.js';
import { createRequestMetrics } from './request-metrics.js';
import { answer, testRequest } from './testing.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${PARENT}-01`;
const UNSAMPLED = `00-${TRACE}-${PARENT}-00`;
const MAP = '/api/v1/namespaces/lab/configmaps/a?x=y';

interface TestRequest {
  readonly rate?: number;
  readonly groups?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly target?: string;
  readonly handler?: (exchange: Exchange) => HttpResponse | Promise<HttpResponse>;
}

async function ask({ rate, groups = [MASTERS_GROUP], headers = {}, target = MAP, handler }: TestRequest) {
  const spans: RecordedSpan[] = [];
  const tracing =
    rate === undefined ? undefined : new Tracer({ ratePerMillion: rate, onEnd: (span) => spans.push(span) });
  let forwarded: Readonly<Record<string, string>> = {};
  const run = buildChain(
    {
      logs: silentLogs,
      metrics: createRequestMetrics(new MetricRegistry()),
      draining: { notAcceptingNewRequests: false, requests: new InFlight(), watches: new OpenWatches() },
      authenticator: { authenticate: () => ({ user: { name: 'somebody', groups } }) },
      authorizer: {
        authorize: () => ({ decision: 'allow', reason: '' }),
        rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
      },
      requestTimeoutMs: 1000,
      maxRequestsInFlight: 0,
      maxMutatingRequestsInFlight: 0,
      corsAllowedOrigins: [],
      hstsDirectives: [],
      goawayChance: 0,
      shutdownSendRetryAfter: false,
      priorityAndFairness: (exchange, next) => next(exchange),
      tracing,
    },
    (exchange) => {
      const call = exchange.calling('HTTP POST', SCOPES.http, () => ({}));
      call.span?.end();
      forwarded = call.headers;
      return handler?.(exchange) ?? answer();
    },
  );
  const response = await run(
    testRequest('GET', target, { headers, host: '127.0.0.1:6443', remoteAddress: '10.0.0.1:77' }),
  );
  const server = spans.find(({ birth }) => birth.kind === 'server');
  const parent = spans.find(({ id }) => id === server?.parentId);
  return { response, spans, server, parent, forwarded };
}

describe('whose trace a request belongs to', () => {
  it('is the client’s, where the client is believed and has it sampled', async () => {
    for (const group of [MASTERS_GROUP, MONITORING_GROUP]) {
      for (const rate of [0, 1_000_000]) {
        const { server } = await ask({ rate, groups: [group], headers: { traceparent: SAMPLED, tracestate: 'v=x' } });
        assert.equal(server?.recording.traceId, TRACE);
        assert.equal(server?.parentId, PARENT);
        assert.equal(server?.recording.state, 'v=x');
        assert.equal(server?.birth.link, undefined);
      }
    }
  });

  it('is nobody’s where a believed client says so, whatever the rate', async () => {
    const { server, forwarded } = await ask({ rate: 1_000_000, headers: { traceparent: UNSAMPLED, baggage: 'k=v' } });
    assert.equal(server, undefined);
    assert.match(forwarded['traceparent'] ?? '', new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
    assert.equal(forwarded['baggage'], 'k=v');
  });

  it('begins with authentication for a believed client without one', async () => {
    const sent: Record<string, string>[] = [{}, { traceparent: 'rubbish' }];
    for (const headers of sent) {
      const { server, parent } = await ask({ rate: 1_000_000, headers });
      assert.equal(parent?.birth.name, 'authentication');
      assert.equal(parent?.parentId, '');
      assert.equal(server?.recording.traceId, parent?.recording.traceId);
      assert.equal((await ask({ rate: 0, headers })).spans.length, 0);
    }
  });

  it('is one of its own, linked to the client’s, for anybody else', async () => {
    for (const traceparent of [SAMPLED, UNSAMPLED]) {
      const { server, spans } = await ask({
        rate: 1_000_000,
        groups: ['dev'],
        headers: { traceparent, tracestate: 'v=x' },
      });
      assert.notEqual(server?.recording.traceId, TRACE);
      assert.equal(server?.parentId, '');
      assert.equal(server?.birth.link?.spanId, PARENT);
      assert.equal(server?.recording.state, '');
      assert.equal(spans.filter(({ birth }) => birth.name === 'authentication').length, 1);
    }
    const unlinked = await ask({ rate: 1_000_000, groups: ['dev'] });
    assert.equal(unlinked.server?.birth.link, undefined);
    const unrecorded = await ask({ rate: 0, groups: ['dev'], headers: { traceparent: SAMPLED, baggage: 'k=v' } });
    assert.equal(unrecorded.spans.length, 0);
    assert.doesNotMatch(unrecorded.forwarded['traceparent'] ?? '', new RegExp(TRACE));
    assert.equal(unrecorded.forwarded['baggage'], 'k=v');
  });

  it('is passed on as it came where tracing is off, whoever sent it', async () => {
    const { forwarded } = await ask({ groups: ['dev'], headers: { traceparent: SAMPLED, baggage: 'k=v' } });
    assert.deepEqual(forwarded, { traceparent: SAMPLED, baggage: 'k=v' });
    assert.deepEqual((await ask({})).forwarded, {});
  });
});

describe('the spans of a request', () => {
  it('nest stage in stage, and end before those around them', async () => {
    const { spans } = await ask({ rate: 0, headers: { traceparent: SAMPLED } });
    assert.deepEqual(
      spans.map(({ birth }) => birth.name),
      [
        'HTTP POST',
        'authorization',
        'priorityandfairness',
        'impersonation',
        'audit',
        'GET /api/v1/namespaces/{:namespace}/configmaps/{:name}',
      ],
    );
    for (const [index, span] of spans.entries()) {
      const around = spans[index + 1];
      assert.equal(span.parentId, around?.id ?? PARENT);
      assert.ok(around === undefined || around.endMs >= span.endMs);
    }
  });

  it('describe the request and the answer', async () => {
    const headers = { traceparent: SAMPLED, 'user-agent': 'test', 'content-length': '12', 'audit-id': 'mine' };
    const { server } = await ask({ rate: 0, headers });
    assert.deepEqual(server?.attributes, {
      'http.method': 'GET',
      'http.scheme': 'https',
      'net.host.name': '127.0.0.1',
      'net.host.port': 6443,
      'net.sock.peer.addr': '10.0.0.1',
      'net.sock.peer.port': 77,
      'user_agent.original': 'test',
      'net.protocol.version': '1.1',
      'http.target': MAP,
      'http.request_content_length': 12,
      'audit-id': 'mine',
      'http.status_code': 200,
      'http.response_content_length': 2,
    });
    assert.equal(server?.failure, undefined);
  });

  it('fail with the server, and not with the client', async () => {
    const answering = (status: number) =>
      ask({ rate: 0, headers: { traceparent: SAMPLED }, handler: () => ({ ...answer(), status }) });
    assert.equal((await answering(404)).server?.failure, undefined);
    assert.equal((await answering(500)).server?.failure, '');
  });

  it('are named after the resource, or after the method alone', async () => {
    const name = async (target: string) =>
      (await ask({ rate: 0, headers: { traceparent: SAMPLED }, target })).server?.birth.name;
    assert.equal(await name('/version'), 'GET');
    assert.equal(await name('/apis/apps/v1/deployments'), 'GET /apis/apps/v1/deployments');
    assert.equal(await name('/api/v1/namespaces/lab'), 'GET /api/v1/namespaces/{:namespace}/namespaces/{:name}');
    assert.equal(
      await name('/apis/apps/v1/namespaces/lab/deployments/d/scale'),
      'GET /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}/scale',
    );
  });

  it('last until the last piece of an answer that comes in pieces', async () => {
    let finish = (): void => undefined;
    const stream = (): Promise<void> => new Promise((resolve) => (finish = resolve));
    const { response, spans } = await ask({
      rate: 0,
      headers: { traceparent: SAMPLED },
      handler: () => ({ status: 200, headers: {}, body: { stream } }),
    });
    const { body } = response;
    assert.ok(typeof body === 'object' && 'stream' in body);
    const sink = { write: () => true, drained: () => Promise.resolve(), pendingBytes: 0 };
    const written = body.stream({ ...sink, signal: new AbortController().signal });
    assert.equal(
      spans.some(({ birth }) => birth.kind === 'server'),
      false,
    );
    finish();
    await written;
    assert.equal(
      spans.some(({ birth }) => birth.kind === 'server'),
      true,
    );
  });
});

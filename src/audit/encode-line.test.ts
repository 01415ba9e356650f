import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseRequestInfo } from '../filters/request-info.js';
import { testRequest } from '../filters/testing.js';
import { boundedMemo } from '../lib/values/bounded-memo.js';
import type { RequestInfo } from '../machinery/request-info.js';
import type { UserInfo } from '../machinery/user.js';
import { authorized } from './annotations.js';
import { type AuditEvent, encodeEvent } from './event.js';
import { aboutRequest } from './event-request.js';
import { responseOf } from './event-response.js';
import { LEVELS, type Stage, STAGES } from './levels.js';
import { LineBlockBuilder } from './line-block.js';
import { LINE_FRAME, encodeLines } from './encode-line.js';

const MIDNIGHT_MS = Date.parse('2026-12-31T23:59:59.000Z');
const PATHS = ['/version', '/api/v1/pods', '/api/v1/namespaces/ü/pods/p', '/apis/apps/v1/deployments?limit=1'];
const USERS: readonly UserInfo[] = [
  { name: 'alice', groups: [] },
  { name: 'gräf"in', groups: ['dev'], uid: '1', extra: { b: ['2'], a: ['<1>'] } },
];
/** Headers are read as one character a byte. */
const asSent = (text: string): string => Buffer.from(text).toString('latin1');
const HEADERS = [{}, { 'user-agent': 'kubectl' }, { 'user-agent': asSent('grüße'), 'x-real-ip': '10.0.0.7' }];
const OBJECTS = [undefined, Buffer.from('{"a":"é"}'), '{"b":"ö"}'];

const few = <T>(...values: T[]) => fc.constantFrom(...values);
const requests = fc.record({
  path: few(...PATHS),
  user: few(...USERS, undefined),
  headers: few(...HEADERS),
  peer: few('127.0.0.1:1', '[::1]:2'),
  level: few(...LEVELS),
  stage: few(...STAGES),
  sentId: few(undefined, undefined, 'ein "id"', 'ü'),
  impersonatedUser: few(undefined, undefined, USERS[1]),
  objectRef: few(undefined, undefined, '"resource":"pods","name":"sent"'),
  response: few(
    undefined,
    responseOf(200, undefined),
    responseOf(404, undefined),
    responseOf(500, { status: 'Failure', message: 'töt' }),
  ),
  requestObject: few(...OBJECTS),
  responseObject: few(...OBJECTS),
  sinceMs: fc.integer({ min: 0, max: 2000 }),
  elapsedUs: few(0, 1, 999, 1_000_000, 86_400_000_000),
  authorized: few(undefined, authorized('allow', ''), authorized('forbid', 'größe'), authorized('error', 'no')),
  annotations: few(
    undefined,
    undefined,
    new Map([
      ['z', 'ß'],
      ['a', '1'],
    ]),
  ),
});

function eventOf({ path, user, headers, peer, sentId, objectRef, sinceMs, ...rest }: RequestOf): AuditEvent {
  const request = testRequest('GET', path, { headers, remoteAddress: peer });
  const about = aboutRequest(request, infoOf(path), user);
  return {
    ...rest,
    auditId: sentId ?? randomUUID(),
    hasOwnAuditId: sentId === undefined,
    request: about,
    objectRef: objectRef ?? about.objectRef,
    receivedMs: MIDNIGHT_MS + sinceMs,
  };
}

/** A frequent request is the same value each time, and only its patterns are used again. */
const infoOf = boundedMemo(PATHS.length, (path: string): RequestInfo => {
  const info = parseRequestInfo(testRequest('GET', path));
  if (typeof info !== 'object') throw new Error(`no request: ${path}`);
  return info;
});

type RequestOf = typeof requests extends fc.Arbitrary<infer T> ? T : never;

interface EncodedLine {
  readonly level: string;
  readonly auditID: string;
  readonly stage: string;
  readonly requestURI: string;
  readonly user: { readonly username?: string };
  readonly userAgent?: string;
  readonly sourceIPs: readonly string[];
  readonly responseStatus?: { readonly code: number };
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
}

const linesOf = (lines: LineBlockBuilder, count: number): string[] =>
  lines.take(count).flatMap(({ bytes, ends }) => ends.map((end, i) => bytes.toString('utf8', ends[i - 1] ?? 0, end)));

function encoded(event: AuditEvent): string {
  const pieces: Buffer[] = [];
  encodeEvent(event, LINE_FRAME, (piece) => pieces.push(Buffer.from(piece as string)));
  return Buffer.concat(pieces).toString();
}

test('a line is what any event encodes to, whatever lines came before it', () => {
  fc.assert(
    fc.property(fc.array(requests, { minLength: 1, maxLength: 40 }), (made) => {
      const events = made.map(eventOf);
      const lines = new LineBlockBuilder();
      for (const event of events) encodeLines([event], lines);
      assert.deepEqual(linesOf(lines, events.length), events.map(encoded));
    }),
    { numRuns: 300 },
  );
});

test('two events that come together encode as they do one by one', () => {
  // As the events of a few requests are: else hardly a pattern would be used again.
  const first = fc.record({
    path: few('/version', '/api/v1/pods'),
    response: few(undefined, undefined, responseOf(200, undefined)),
    requestObject: few(undefined, undefined, OBJECTS[1]),
    elapsedUs: few(0, 0, 5),
    authorized: few(undefined, undefined, authorized('allow', '')),
    sinceMs: few(1, 2, 1003),
  });
  const last = fc.record({
    stage: few<Stage>('ResponseComplete', 'Panic', 'RequestReceived'),
    response: few(responseOf(200, undefined), responseOf(404, undefined)),
    authorized: few(authorized('allow', ''), authorized('forbid', 'größe')),
    responseObject: few(undefined, ...OBJECTS),
    elapsedUs: few(0, 7, 999_999),
  });
  const kinds = few('of one', 'of one', 'of one', 'of two', 'of another path');
  const pairs = fc.tuple(requests, first, last, kinds);
  fc.assert(
    fc.property(fc.array(pairs, { minLength: 1, maxLength: 40 }), (made) => {
      const events = made.map(([any, own, differs, kind]) => {
        const of = { ...any, ...USUAL, ...own };
        const received = eventOf(of);
        if (kind === 'of one') return [received, { ...received, ...differs }];
        if (kind === 'of two') return [received, eventOf({ ...of, ...differs })];
        const { request, objectRef } = eventOf({ ...of, path: '/api/v1/namespaces/ü/pods/p' });
        return [received, { ...received, ...differs, request, objectRef }];
      });
      const lines = new LineBlockBuilder();
      for (const pair of events) encodeLines(pair, lines);
      assert.deepEqual(linesOf(lines, events.length * 2), events.flat().map(encoded));
    }),
    { numRuns: 300 },
  );
});

const USUAL = {
  user: USERS[0],
  headers: {},
  peer: '127.0.0.1:1',
  level: 'Metadata',
  stage: 'RequestReceived',
  sentId: undefined,
  impersonatedUser: undefined,
  objectRef: undefined,
  responseObject: undefined,
  annotations: undefined,
} as const;

test('a line says what its own request said', () => {
  fc.assert(
    fc.property(fc.array(requests, { minLength: 1, maxLength: 10 }), (made) => {
      for (const one of made) {
        const lines = new LineBlockBuilder();
        const event = eventOf(one);
        encodeLines([event], lines);
        const line = JSON.parse(String(lines.take(1)[0]?.bytes)) as EncodedLine;
        assert.deepEqual(
          [line.level, line.auditID, line.stage, line.requestURI],
          [one.level, event.auditId, one.stage, one.path],
        );
        assert.equal(line.user.username, one.user?.name);
        assert.equal(asSent(line.userAgent ?? ''), one.headers['user-agent'] ?? '');
        assert.deepEqual(line.sourceIPs.at(-1), one.peer.startsWith('[') ? '::1' : '127.0.0.1');
        assert.equal(line.responseStatus?.code, one.response?.code);
        assert.equal(Date.parse(line.requestReceivedTimestamp), event.receivedMs);
        const reachedMs = event.receivedMs + Math.floor(one.elapsedUs / 1000);
        assert.equal(Date.parse(line.stageTimestamp), reachedMs);
        assert.equal(line.stageTimestamp.slice(23, 26), String(one.elapsedUs % 1000).padStart(3, '0'));
      }
    }),
    { numRuns: 200 },
  );
});

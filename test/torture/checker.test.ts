import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkHistory } from './checker.js';
import type { Get, History, List, Span, Version, ViolationKind, WatchEvent, Write } from './history.js';

// One client after another on two objects, and what two watchers see of it:
//
//   moment  1-2     3-4       5-6      7-8     9-10    11-12
//           create  create    update   patch   delete  create
//           a@11    b@12      a@13     a@14    b@15    b@16
const version = (key: string, revision: number, value: string, more: Partial<Version> = {}): Version => ({
  key,
  revision,
  uid: `uid-${key}`,
  value,
  base: value,
  ...more,
});
const A1 = version('a', 11, 'w1');
const B1 = version('b', 12, 'w2');
const A2 = version('a', 13, 'w3');
const A3 = version('a', 14, 'w4', { base: 'w3' });
const B_GONE = version('b', 15, 'w2');
const B2 = version('b', 16, 'w6', { uid: 'uid-b-2' });
const END = 13;

const write = (verb: Write['verb'], shown: Version, beganAt: number, more: Partial<Write> = {}): Write => ({
  verb,
  key: shown.key,
  value: shown.value,
  beganAt,
  endedAt: beganAt + 1,
  outcome: 'ok',
  version: shown,
  ...more,
});
const WRITES: readonly Write[] = [
  write('create', A1, 1),
  write('create', B1, 3),
  write('update', A2, 5, { expected: 11 }),
  write('patch', A3, 7),
  { verb: 'delete', key: 'b', value: '', expected: 12, beganAt: 9, endedAt: 10, outcome: 'ok', deletedUid: 'uid-b' },
  write('create', B2, 11),
];
const event = (type: WatchEvent['type'], seen: Version, at = END): WatchEvent => ({
  type,
  at,
  revision: seen.revision,
  version: seen,
});
const EVENTS: readonly WatchEvent[] = [
  event('ADDED', A1),
  event('ADDED', B1),
  event('MODIFIED', A2),
  event('MODIFIED', A3),
  event('DELETED', B_GONE),
  event('ADDED', B2),
];
const spanOf = (watcher: string, events: readonly WatchEvent[] = EVENTS, from = 10): Span => ({
  watcher,
  from,
  events: [...events],
});
const SPANS = [spanOf('one'), spanOf('two')];
const list = (revision: number, items: readonly Version[], more: Partial<List> = {}): List => ({
  match: 'newest',
  wanted: 0,
  beganAt: END,
  endedAt: END + 1,
  pages: [{ revision, items }],
  ...more,
});
const LAST = list(16, [A3, B2]);
const get = (key: string, shown: Version | undefined, beganAt = END): Get => ({
  key,
  beganAt,
  endedAt: beganAt + 1,
  version: shown,
});
const history = (more: Partial<History> = {}): History => ({
  from: 10,
  writes: WRITES,
  gets: [get('a', A3)],
  lists: [LAST],
  spans: SPANS,
  ...more,
});
const kinds = (more: Partial<History>): ViolationKind[] => [
  ...new Set(checkHistory(history(more)).violations.map(({ kind }) => kind)),
];
const without = (...revisions: number[]): readonly WatchEvent[] =>
  EVENTS.filter(({ revision }) => !revisions.includes(revision));
const changed = (index: number, more: Partial<Write>): readonly Write[] =>
  WRITES.map((one, i) => (i === index ? { ...one, ...more } : one));

describe('a history that can have happened', () => {
  it('has no violations', () => {
    assert.deepEqual(checkHistory(history()), { violations: [], changes: 6, isComplete: true });
  });

  it('may have writes of unknown outcome that happened, and that did not', () => {
    const writes = [
      ...changed(3, { outcome: 'unknown', version: undefined }),
      write('update', version('a', 0, 'w7'), 7, { outcome: 'unknown', version: undefined }),
    ];
    assert.deepEqual(kinds({ writes }), []);
  });

  it('may have writes that were refused and did not happen', () => {
    const refused = write('create', version('a', 0, 'w7'), 7, { outcome: 'failed', version: undefined });
    assert.deepEqual(kinds({ writes: [...WRITES, refused] }), []);
  });

  it('may have reads of any state between their call and their return', () => {
    const gets = [get('a', A1, 4), get('a', A2, 4), get('b', undefined, 9), get('b', B1, 9)];
    assert.deepEqual(kinds({ gets }), []);
  });

  it('may have lists of the past, where the request allows it, and pages of one state', () => {
    const pages = [
      { revision: 14, items: [A3] },
      { revision: 14, items: [B1] },
    ];
    const lists = [
      list(12, [A1, B1], { match: 'any' }),
      list(13, [A2, B1], { match: 'exact', wanted: 13 }),
      list(14, [], { match: 'notOlderThan', wanted: 13, pages }),
    ];
    assert.deepEqual(kinds({ lists }), []);
  });

  it('may have a watcher that got a 410 and listed, and bookmarks', () => {
    const bookmark: WatchEvent = { type: 'BOOKMARK', at: END, revision: 13 };
    const spans = [spanOf('one'), spanOf('two', [...EVENTS.slice(0, 3), bookmark]), spanOf('two', EVENTS.slice(5), 15)];
    assert.deepEqual(kinds({ spans }), []);
  });

  it('is checked as far as the changes are known', () => {
    const spans = [spanOf('one', EVENTS.slice(0, 2)), spanOf('one', EVENTS.slice(5), 15)];
    const lists = [list(15, [], { match: 'any' })];
    const verdict = checkHistory(history({ spans, lists }));
    assert.deepEqual([verdict.violations, verdict.isComplete], [[], false]);
  });
});

describe('the checker finds', () => {
  const planted: readonly [string, ViolationKind, Partial<History>][] = [
    [
      'an answered write that nobody saw',
      'lost write',
      { spans: [spanOf('one', without(14)), spanOf('two', without(14))], lists: [list(16, [A2, B2])] },
    ],
    [
      'an answered write that a list does not have',
      'list is not the state at its revision',
      { lists: [list(16, [A2, B2])] },
    ],
    [
      'an answered delete that did not happen',
      'lost write',
      { writes: WRITES.slice(0, 5), spans: [spanOf('one', EVENTS.slice(0, 4))], lists: [], gets: [] },
    ],
    [
      'a revision that was given to another write after an answered one was lost',
      'contradiction',
      { writes: [...WRITES, write('update', version('a', 14, 'w7'), 7)] },
    ],
    [
      'a refused write that happened',
      'write that was refused happened',
      { writes: changed(3, { outcome: 'failed', version: undefined }) },
    ],
    [
      'a write that was repeated',
      'write happened twice',
      { spans: [spanOf('one', [...EVENTS, event('MODIFIED', version('a', 17, 'w4', { base: 'w3' }))])] },
    ],
    [
      'a value that nobody wrote',
      'object that nobody wrote',
      { spans: [spanOf('one', [...EVENTS, event('MODIFIED', version('a', 17, 'w9'))])] },
    ],
    ['a delete that nobody asked for', 'object that nobody wrote', { writes: changed(4, { outcome: 'failed' }) }],
    ['an update on another version than it demanded', 'precondition broken', { writes: changed(2, { expected: 10 }) }],
    ['a delete of another version than it demanded', 'precondition broken', { writes: changed(4, { expected: 11 }) }],
    ['a create of what was there', 'precondition broken', { writes: changed(2, { verb: 'create' }) }],
    ['an update of what was not there', 'precondition broken', { writes: changed(5, { verb: 'update' }) }],
    [
      'a patch that undid what came before it',
      'precondition broken',
      {
        writes: changed(3, { version: version('a', 14, 'w4', { base: 'w1' }) }),
        spans: [spanOf('one', [...without(14, 15, 16), event('MODIFIED', version('a', 14, 'w4', { base: 'w1' }))])],
        lists: [],
        gets: [],
      },
    ],
    ['a read of what had been overwritten', 'stale read', { gets: [get('a', A2, 9)] }],
    ['a read that does not find what was there', 'stale read', { gets: [get('a', undefined, 9)] }],
    ['a list that is older than what was answered', 'stale read', { lists: [list(15, [A3])] }],
    [
      'a list that is older than was asked for',
      'stale read',
      { lists: [list(12, [A1, B1], { match: 'notOlderThan', wanted: 13 })] },
    ],
    [
      'a list at another version than was asked for',
      'stale read',
      { lists: [list(12, [A1, B1], { match: 'exact', wanted: 13 })] },
    ],
    [
      'a write with an older revision than was seen before',
      'resourceVersion went back',
      { writes: changed(2, { beganAt: 12.5, endedAt: 12.6 }) },
    ],
    [
      'an event that comes twice',
      'duplicate event',
      { spans: [SPANS[0]!, spanOf('two', [...EVENTS.slice(0, 4), ...EVENTS.slice(3)])] },
    ],
    ['an event that one watcher missed', 'missed event', { spans: [SPANS[0]!, spanOf('two', without(13))] }],
    [
      'events out of order',
      'event out of order',
      { spans: [SPANS[0]!, spanOf('two', [EVENTS[1]!, EVENTS[0]!, ...EVENTS.slice(2)])] },
    ],
    [
      'an event after a bookmark that says it was sent',
      'event out of order',
      {
        spans: [
          SPANS[0]!,
          spanOf('two', [...EVENTS.slice(0, 3), { type: 'BOOKMARK', at: END, revision: 15 }, ...EVENTS.slice(3)]),
        ],
      },
    ],
    [
      'an event of the wrong type',
      'event of the wrong type',
      { spans: [SPANS[0]!, spanOf('two', [event('MODIFIED', A1), ...EVENTS.slice(1)])] },
    ],
    [
      'pages of two versions',
      'mixed pages',
      {
        lists: [
          list(16, [], {
            pages: [
              { revision: 13, items: [A2] },
              { revision: 14, items: [B1] },
            ],
            match: 'any',
          }),
        ],
      },
    ],
    [
      'pages that show an object twice',
      'mixed pages',
      {
        lists: [
          list(16, [], {
            pages: [
              { revision: 16, items: [A3, B2] },
              { revision: 16, items: [B2] },
            ],
          }),
        ],
      },
    ],
  ];
  for (const [what, kind, more] of planted) {
    it(what, () => assert.ok(kinds(more).includes(kind), `found ${kinds(more).join(', ') || 'nothing'}`));
  }
});

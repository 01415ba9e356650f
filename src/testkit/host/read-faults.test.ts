import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readFaultSettings } from './read-faults.js';

const read = (...rules: unknown[]) => readFaultSettings({ rules }).rules;

it('reads each fault with what it takes, and fills in the rest', () => {
  const anything = { verbs: [], resources: [], namespaces: [], share: 1, times: Infinity };
  assert.deepEqual(read({ fault: 'error', code: 429 }, { fault: 'drop-watch' }, { fault: 'stale-list' }), [
    { ...anything, fault: { kind: 'error', code: 429, retryAfterSeconds: 1, after: false } },
    { ...anything, fault: { kind: 'drop-watch', afterMs: 0 } },
    { ...anything, fault: { kind: 'stale-list', behind: 100 } },
  ]);
  const scope = { verbs: ['update'], resources: ['pods/status'], namespaces: ['shop'], share: 0.5, times: 2 };
  assert.deepEqual(read({ fault: 'slow', delayMs: 5, ...scope }), [{ fault: { kind: 'slow', delayMs: 5 }, ...scope }]);
  assert.deepEqual(readFaultSettings({}), { seed: 1, rules: [], settings: [] });
});

it('refuses what it does not know, and says where', () => {
  const refused = (rule: unknown, message: string) => assert.throws(() => read(rule), { status: 400, message });
  refused('x', 'rules[0] must be an object');
  refused({ fault: 'crash' }, 'rules[0].fault must be one of error, slow, stale-list, drop-watch, delay-watch');
  refused({ fault: 'toString' }, 'rules[0].fault must be one of error, slow, stale-list, drop-watch, delay-watch');
  refused({ fault: 'error', code: 404 }, 'rules[0].code must be one of 409, 410, 429, 500, 503, 504');
  refused({ fault: 'slow', delayMs: 1, code: 500 }, 'rules[0]: unknown field "code"');
  refused({ fault: 'slow' }, 'rules[0].delayMs must be a number from 0 to 600000');
  refused({ fault: 'slow', delayMs: 1, share: 2 }, 'rules[0].share must be a number from 0 to 1');
  refused({ fault: 'error', code: 500, after: 1 }, 'rules[0].after must be true or false');
  refused({ fault: 'error', code: 500, verbs: 'get' }, 'rules[0].verbs must be an array of strings');
  assert.throws(() => readFaultSettings({ seed: -1 }), { message: 'seed must be a number from 0 to 4294967295' });
  assert.throws(() => readFaultSettings({ rules: {} }), { message: 'rules must be an array' });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTo } from '../testing/test-log.js';
import { prefixed } from './prefixed.js';

test('every message begins with what it is about, at any severity and verbosity', () => {
  const lines: string[] = [];
  const log = prefixed(
    logTo((message) => lines.push(message)),
    'pods',
  );
  log.info('a');
  log.warning('b');
  log.error(new Error('x'), 'c');
  log.plain('d');
  log.v(2)?.info('e');
  assert.deepEqual(lines, ['pods: a', 'pods: b', 'pods: c', 'pods: d', 'pods: e']);
  const quiet = { ...logTo(assert.fail), v: () => undefined };
  assert.equal(prefixed(quiet, 'pods').v(2), undefined);
});

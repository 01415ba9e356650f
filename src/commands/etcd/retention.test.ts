import assert from 'node:assert/strict';
import { it } from 'node:test';
import { retentionOf } from './retention.js';

it('is hours or a duration by time, a number of revisions, or nothing', () => {
  assert.deepEqual(retentionOf('periodic', '8'), { keepMs: 8 * 3_600_000 });
  assert.deepEqual(retentionOf('periodic', '5m'), { keepMs: 300_000 });
  assert.deepEqual(retentionOf('revision', '1000'), { keepRevisions: 1000 });
  for (const mode of ['periodic', 'revision']) assert.equal(retentionOf(mode, '0'), undefined);
  assert.equal(retentionOf('periodic', '0s'), undefined);
});

it('is refused where it is neither', () => {
  assert.throws(() => retentionOf('never', '1'), /--auto-compaction-mode is periodic or revision, not never/);
  assert.throws(() => retentionOf('revision', '5m'), /is a number of revisions, not 5m/);
  assert.throws(() => retentionOf('periodic', 'soon'), /is a number of hours or a duration, not soon/);
});

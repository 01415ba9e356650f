import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OwnWrites } from './own-writes.js';

describe('own writes', () => {
  const writesOf = (...written: readonly (readonly [number, string])[]): OwnWrites => {
    const writes = new OwnWrites();
    for (const [revision, key] of written) writes.add(revision, key);
    return writes;
  };

  it('are elsewhere when all of a stretch are known, and under other keys', () => {
    const writes = writesOf([7, '/leases/a'], [5, '/pods/a'], [6, '/pods/b']);
    assert.equal(writes.areElsewhere('/nodes/', 4, 7), true);
    assert.equal(writes.areElsewhere('/leases/', 4, 6), true);
    assert.equal(writes.areElsewhere('/pods/a', 5, 7), true);
  });

  it('are not elsewhere when one of them is under the prefix', () => {
    const writes = writesOf([5, '/pods/a'], [6, '/pods/b'], [7, '/leases/a']);
    assert.equal(writes.areElsewhere('/pods/', 4, 7), false);
    assert.equal(writes.areElsewhere('/leases/a', 4, 7), false);
    assert.equal(writes.areElsewhere('/leases/', 6, 7), false);
  });

  it('are not known to be elsewhere when somebody else wrote between them', () => {
    const writes = writesOf([5, '/pods/a'], [7, '/pods/b']);
    assert.equal(writes.areElsewhere('/nodes/', 4, 7), false);
    assert.equal(writes.areElsewhere('/nodes/', 7, 8), false);
    assert.equal(writes.areElsewhere('/nodes/', 6, 7), true);
  });

  it('are nowhere in a stretch that is empty', () => {
    assert.equal(new OwnWrites().areElsewhere('/pods/', 9, 9), true);
    assert.equal(new OwnWrites().areElsewhere('/pods/', 9, 8), true);
  });

  it('are forgotten, and what is late is not kept', () => {
    const writes = new OwnWrites();
    for (let revision = 1; revision <= 3000; revision++) writes.add(revision, '/pods/a');
    writes.add(3000 - 1024, '/pods/a');
    assert.equal(writes.areElsewhere('/nodes/', 2999, 3000), true);
    assert.equal(writes.areElsewhere('/nodes/', 1900, 1976), false);
    assert.equal(writes.areElsewhere('/nodes/', 2000, 3000), false, 'a stretch that is too long');
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DumpColumn, mergeRows, tableText } from './dump-table.js';

const COLUMNS: readonly DumpColumn[] = [
  { title: 'Name' },
  { title: 'Waiting', across: 'sum' },
  { title: 'IsIdle', across: 'every' },
  { title: 'IsQuiescing', across: 'some' },
  { title: 'Meter', across: 'max', text: (value) => `${value.toFixed(1)}ss` },
];

test('rows of several processes with the same name become one', () => {
  const rows = [
    ['a', 2, true, false, 1.5],
    ['b', 0, true, false, 0],
    ['a', 3, false, false, 1],
    ['b', 0, true, true, 0.25],
  ];
  assert.deepEqual(mergeRows(COLUMNS, rows), [
    ['a', 5, false, false, 1.5],
    ['b', 0, true, true, 0.25],
  ]);
});

test('cells are padded to the widest of their column, and the last one is not', () => {
  assert.equal(
    tableText(COLUMNS, [['a-long-name', 5, false, false, 1.5]]),
    'Name,        Waiting, IsIdle, IsQuiescing, Meter\na-long-name, 5,       false,  false,       1.5ss\n',
  );
});

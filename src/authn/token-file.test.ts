import { logTo } from '../lib/testing/test-log.js';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTokenFile } from './token-file.js';

const parse = (text: string, warnings: string[] = []) =>
  parseTokenFile(
    text,
    't.csv',
    logTo((line) => warnings.push(line)),
  );

test('records with and without groups, quotes and blank lines', () => {
  const warnings: string[] = [];
  const users = parse('a,alice,1,"dev,qa"\r\n\r\n"b ""x""",bob,2\n,nobody,3\na,again,4\n', warnings);
  assert.deepEqual(users.get('b "x"'), { name: 'bob', uid: '2', groups: [] });
  assert.deepEqual(users.get('a'), { name: 'again', uid: '4', groups: [] });
  assert.equal(users.size, 2);
  assert.deepEqual(warnings, [
    "empty token has been found in token file 't.csv', record number '3'",
    "duplicate token has been found in token file 't.csv', record number '4'",
  ]);
});

test('errors name their line', () => {
  assert.throws(
    () => parse('a,b,c\nx,y\n'),
    /must have at least 3 columns \(token, user name, user uid\), found 2 on line 2$/,
  );
  assert.throws(() => parse('a,b,c\nx,y"z,1\n'), /parse error on line 2, column 4: bare " in non-quoted-field/);
  assert.throws(() => parse('"a,b,c\n'), /^Error: parse error on line 1, column 8: extraneous or missing "/);
  assert.throws(() => parse('"a,b\nc'), /record on line 1; parse error on line 2, column 2: extraneous or missing "/);
});

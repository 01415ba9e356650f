import assert from 'node:assert/strict';
import { test } from 'node:test';
import { escapeFieldName, unescapeFieldName } from './field-names.js';

test('names of properties become identifiers, and identifiers names again', () => {
  const names: Record<string, string> = {
    plain: 'plain',
    namespace: '__namespace__',
    'a-b': 'a__dash__b',
    'a.b/c': 'a__dot__b__slash__c',
    a__b: 'a__underscores__b',
    _x: '_x',
    '.x': '__dot__x',
  };
  for (const [name, escaped] of Object.entries(names)) {
    assert.equal(escapeFieldName(name), escaped);
    assert.equal(unescapeFieldName(escaped), name);
  }
});

test('what no identifier can say has none', () => {
  for (const name of ['', '1a', 'a b', 'ä', 'a$']) assert.equal(escapeFieldName(name), undefined);
  for (const escaped of ['a__nothing__b', 'a__namespace__']) assert.equal(unescapeFieldName(escaped), undefined);
});

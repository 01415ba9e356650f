import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInternalList, readJsonMap, readJsonValue } from './json-text.js';

test('a map is refused in the words of Go', () => {
  const cases: [string, string][] = [
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
    ['[]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['5', 'json: cannot unmarshal number into Go value of type map[string]interface {}'],
  ];
  for (const [text, problem] of cases) assert.deepEqual(readJsonMap(text), { problem }, text);
  assert.deepEqual(readJsonMap('null'), { value: {} });
  assert.deepEqual(readJsonMap(' {"a":1}'), { value: { a: 1 } });
});

test('a list of what is none is no list', () => {
  const cases: [string, string][] = [
    ['5', 'json: cannot unmarshal number into Go value of type []core.Taint'],
    ['{"a":1}', 'json: cannot unmarshal object into Go value of type []core.Taint'],
    ['["x"]', 'json: cannot unmarshal string into Go value of type core.Taint'],
    ['[{"key":5}]', 'json: cannot unmarshal number into Go struct field Taint.Key of type string'],
    ['[', 'unexpected end of JSON input'],
  ];
  for (const [text, problem] of cases) assert.deepEqual(readInternalList(text, 'Taint'), { problem }, text);
  assert.deepEqual(readInternalList('null', 'Taint'), { value: [] });
  assert.deepEqual(readInternalList('[null]', 'Taint'), { value: [{ key: '', effect: '' }] });
});

test('members are found however their names are cased', () => {
  assert.deepEqual(readInternalList('[{"Key":"a","EFFECT":"NoSchedule"}]', 'Taint'), {
    value: [{ key: 'a', effect: 'NoSchedule' }],
  });
  assert.deepEqual(readJsonValue('{"PreferAvoidPods":[{"podsignature":{}}]}', 'AvoidPods'), {
    value: { preferAvoidPods: [{ podSignature: {}, evictionTime: null }] },
  });
});

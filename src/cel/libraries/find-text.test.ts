import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexOfText, lastIndexOfText } from './find-text.js';

const LONG = 'abcab'.repeat(5);

test('a long part is found where the engine finds it', () => {
  const texts = ['', 'abc', LONG, `${LONG}${LONG}`, `x${LONG.repeat(4)}y`, `${LONG.slice(1)}${LONG}c${LONG}`];
  for (const text of texts) {
    for (const part of ['b', LONG, `${LONG}a`, LONG.slice(0, 17), LONG.slice(3)]) {
      for (let at = 0; at <= text.length; at++) {
        assert.equal(indexOfText(text, part, at), text.indexOf(part, at), `${text} of ${part} from ${at}`);
        assert.equal(lastIndexOfText(text, part, at), text.lastIndexOf(part, at), `${text} of ${part} until ${at}`);
      }
      assert.equal(lastIndexOfText(text, part), text.lastIndexOf(part));
    }
  }
});

test('the worst texts need linear time', { timeout: 20_000 }, () => {
  const text = 'a'.repeat(1_000_000);
  const part = 'a'.repeat(400_000);
  assert.equal(indexOfText(text, `b${part}`), -1);
  assert.equal(lastIndexOfText(text, `${part}b`), -1);
});

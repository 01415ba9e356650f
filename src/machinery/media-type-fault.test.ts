import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mediaTypeFault } from './media-type-fault.js';

test('the error of a malformed media type is the one of Go', () => {
  const faults: Record<string, string | undefined> = {
    'application/json': undefined,
    'text/html; charset=utf-8;': undefined,
    'text/plain; a="b;c\\"d" ; e=f': undefined,
    text: undefined,
    ';;;': 'mime: no media type',
    '/json': 'mime: no media type',
    'text html': 'mime: expected slash after first token',
    'text/': 'mime: expected token after slash',
    'text/html x': 'mime: unexpected content after media subtype',
    'text/html; charset': 'mime: invalid media parameter',
    'text/html; a=1; A=2': 'mime: duplicate parameter name',
  };
  for (const [text, fault] of Object.entries(faults)) assert.equal(mediaTypeFault(text), fault, text);
});

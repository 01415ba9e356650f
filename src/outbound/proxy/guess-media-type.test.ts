import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guessMediaType } from './guess-media-type.js';

const guess = (text: string): string => guessMediaType(Buffer.from(text, 'latin1'));

test('a page is known by its first tag, after any space', () => {
  for (const page of ['<html>', ' \r\n\t<!doctype html>', '<body class="x">', '<!-- x -->', '<A >']) {
    assert.equal(guess(page), 'text/html; charset=utf-8', page);
  }
  assert.equal(guess('<htmlx>'), 'text/plain; charset=utf-8');
  assert.equal(guess('  <?xml version="1.0"?>'), 'text/xml; charset=utf-8');
});

test('other forms are known by how they begin', () => {
  for (const [bytes, type] of [
    ['%PDF-1.7', 'application/pdf'],
    ['\xef\xbb\xbf{}', 'text/plain; charset=utf-8'],
    ['\x89PNG\r\n\x1a\n....', 'image/png'],
    ['RIFF1234WEBPVP8', 'image/webp'],
    ['RIFF1234WAVEfmt', 'audio/wave'],
    ['\x1f\x8b\x08\0', 'application/x-gzip'],
    ['\0\0\0\x14ftypisom\0\0\0\0mp41', 'video/mp4'],
    ['\0\0\0\x14ftypisom\0\0\0\0abcd', 'application/octet-stream'],
    ['PK\x03\x04', 'application/zip'],
  ] as const) {
    assert.equal(guess(bytes), type);
  }
});

test('what is left is text without control characters, or bytes', () => {
  assert.equal(guess('{"a":1}'), 'text/plain; charset=utf-8');
  assert.equal(guess('\x1b[31mred\n'), 'text/plain; charset=utf-8');
  assert.equal(guess('\xff\xfd\xe4'), 'text/plain; charset=utf-8');
  assert.equal(guess('a\x01'), 'application/octet-stream');
  assert.equal(guess(`${'a'.repeat(512)}\x01`), 'text/plain; charset=utf-8');
});

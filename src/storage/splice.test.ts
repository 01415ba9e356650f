import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodesTo, spliceResourceVersion } from './splice.js';

const STORED = [
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","uid":"1","labels":{"b":"c"}},"data":{"d":"é"}}',
  '{"apiVersion":"e.example/v1","kind":"Thing","metadata":{"creationTimestamp":null,"name":"a","uid":"1"},"spec":{}}',
  '{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}',
];

test('stored bytes are served unchanged but for their inserted revision', () => {
  for (const text of STORED) {
    const stored = Buffer.from(text);
    for (const revision of [7, 123_456]) {
      const json = spliceResourceVersion(stored, revision);
      assert.ok(encodesTo(stored, { json, revision }), text);
      for (let at = 0; at < stored.length; at++) {
        const other = Buffer.from(stored);
        other[at] = stored[at] === 0x61 ? 0x62 : 0x61;
        // Bytes that no longer are an object's may be refused as such.
        assert.ok(!isPrinted(other, json, revision), `${text} differs at ${at}`);
      }
      assert.ok(!encodesTo(Buffer.concat([stored, Buffer.from(' ')]), { json, revision }));
    }
  }
});

function isPrinted(stored: Buffer, json: Buffer, revision: number): boolean {
  try {
    return encodesTo(stored, { json, revision });
  } catch {
    return false;
  }
}

test('the revision comes after the names and the uid of a typed object, whichever it has', () => {
  const here = (metadata: string): string =>
    `{"kind":"ConfigMap","apiVersion":"v1","metadata":{${metadata}},"data":{}}`;
  for (const [before, after] of [
    ['"name":"a","generateName":"a-","namespace":"n","selfLink":"s","uid":"1"', ',"labels":{}'],
    ['"generateName":"a-","namespace":"n","uid":"1"', ',"creationTimestamp":null'],
    ['"namespace":"n","name":"a","uid":"1"', ''],
    ['"name":"with \\" in it","uid":"1"', ',"labels":{"uid":"2"}'],
    ['"name":"a"', ',"labels":{"uid":"2"}'],
    [`"name":"${'a'.repeat(600)}","uid":"1"`, ',"labels":{}'],
    ['"uid":"1"', ''],
  ] as const) {
    const json = spliceResourceVersion(Buffer.from(here(before + after)), 7).toString();
    assert.equal(json, here(`${before},"resourceVersion":"7"${after}`));
  }
});

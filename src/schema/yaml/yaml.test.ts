import assert from 'node:assert/strict';
import test from 'node:test';
import { typeOf } from '../catalogue.js';
import { encodeTree } from '../json/encode.js';
import { DecodeError } from '../json/walk.js';
import { decodeYaml } from './decode.js';
import { parseYaml } from './parse.js';
import { encodeYaml, yamlSteps } from './encode.js';

const json = (yaml: string): string => encodeTree(parseYaml(yaml).value);

test('plain scalars mean what YAML 1.1 says', () => {
  const cases: [string, string][] = [
    ['yes', 'true'],
    ['y', 'true'],
    ['Off', 'false'],
    ['010', '8'],
    ['0o10', '8'],
    ['0x1F', '31'],
    ['0b11', '3'],
    ['1_000', '1000'],
    ['1:30', '"1:30"'],
    ['2024-01-01', '"2024-01-01"'],
    ['~', 'null'],
    ['.5', '0.5'],
    ['1e3', '1000'],
    ['0123456789', '123456789'],
    ['1e400', '"1e400"'],
    ['"yes"', '"yes"'],
    ['!!binary aGVsbG8=', '"hello"'],
    ['9007199254740993', '9007199254740993'],
  ];
  for (const [scalar, expected] of cases) assert.equal(json(`a: ${scalar}`), `{"a":${expected}}`, scalar);
});

test('keys become strings, merges are merged, later documents are left alone', () => {
  assert.equal(json('1: a\ntrue: b\n1.5: c'), '{"1":"a","1.5":"c","true":"b"}');
  assert.equal(json('x: &b {k: 1}\nz:\n  <<: *b\n  l: 2'), '{"x":{"k":1},"z":{"k":1,"l":2}}');
  assert.equal(json('a: 1\n---\nb: 2'), '{"a":1}');
  assert.equal(json(''), 'null');
});

test('repeated keys are reported with their lines, and the last one counts', () => {
  const parsed = parseYaml('a: 1\nb:\n  c: 1\n  c: 2\na: 2\n');
  assert.equal(encodeTree(parsed.value), '{"a":2,"b":{"c":2}}');
  assert.equal(
    parsed.strictError,
    'yaml: unmarshal errors:\n  line 4: key "c" already set in map\n  line 5: key "a" already set in map',
  );
});

test('aliases are written out, within bounds', () => {
  const shared = parseYaml('a: &x {k: [1]}\nb: *x').value;
  assert.ok(typeof shared === 'object' && shared !== null && 'a' in shared && 'b' in shared);
  assert.notEqual(shared.a, shared.b);
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 10; i++)
    lines.push(`a${i}: &a${i} [${Array.from({ length: 9 }, () => `*a${i - 1}`).join(', ')}]`);
  assert.throws(() => parseYaml(lines.join('\n')), /excessive aliasing/);
  // A document that grows a hundredfold is refused long before it is large.
  assert.throws(() => parseYaml(lines.slice(0, 5).join('\n')), /excessive aliasing/);
  assert.ok(parseYaml(lines.slice(0, 3).join('\n')).value);
});

test('what cannot be read is an error with its line', () => {
  assert.throws(
    () => parseYaml('a:\n\tb: 1'),
    (error) => error instanceof DecodeError && error.message.startsWith('yaml: line 2: '),
  );
  assert.throws(() => parseYaml('a: .inf'), /unsupported value: \+Inf/);
  assert.throws(() => parseYaml(`${'['.repeat(100_000)}`), DecodeError);
});

test('strings that would be read as something else are quoted, long ones are folded', () => {
  const text = encodeYaml({
    a10: 1,
    a9: `${'x'.repeat(50)} ${'y'.repeat(40)} z`,
    b: 'yes',
    c: 'one\ntwo\n',
    d: '- x',
    e: ['a', ['b', { c: {} }], []],
    n: '',
    t: 'tab\there',
  });
  assert.equal(
    text,
    `a9: ${'x'.repeat(50)} ${'y'.repeat(40)}\n  z\na10: 1\nb: "yes"\nc: |\n  one\n  two\nd: '- x'\ne:\n- a\n- - b\n  - c: {}\n- []\n"n": ""\nt: "tab\\there"\n`,
  );
});

test('keys are ordered by their characters, and numbers in them by their size', () => {
  const inOrder = [
    ['+', '0', '00', '0x', '1', '2', '10', 'A', 'Z', 'a', 'a0', 'a1', 'a01', 'a10', 'aa', 'é', '中'],
    ['k1', 'k1-', 'k1a', 'k2', 'k9', 'k10', 'k100', 'k101', 'kk'],
    // Half of each pair is the same.
    ['x\u{1f600}', 'x\u{1f601}', 'x\u{1d4b3}', 'x\u{1d4b3}a'],
  ];
  for (const keys of inOrder) {
    const encoded = encodeYaml(Object.fromEntries(keys.toReversed().map((key) => [key, {}])));
    const lines = encoded.split('\n').slice(0, -1);
    assert.deepEqual(
      lines.map((line) => Object.keys(parseYaml(line).value as object)[0]),
      keys,
    );
  }
});

test('encoding a large tree yields to the event loop', () => {
  const key = (i: number): string => `k${i}`;
  const trees = [
    Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [key(i), 'v'])),
    Array.from({ length: 5000 }, (_, i) => key(i)),
    Array.from({ length: 2500 }, (_, i) => ({ a: key(i), b: [[i], [{}]] })),
  ];
  for (const tree of trees) {
    const yields = [...yamlSteps(tree)].length;
    assert.ok(yields >= 5000 / 64 - 1, `${yields} yields`);
  }
});

test('an escape for half a character is refused, and only an escape', () => {
  assert.throws(() => parseYaml('a: ["\\ud800"]'), /invalid Unicode character escape code/);
  assert.deepEqual(parseYaml("a: ['\\ud800', \\udc00]").value, { a: ['\\ud800', '\\udc00'] });
});

test('documents of another version, and tabs before nothing, are refused', () => {
  const said = (text: string): string => {
    try {
      return JSON.stringify(parseYaml(text).value);
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.equal(said('%YAML 1.1\n---\na: 1\n'), '{"a":1}');
  for (const version of ['1.2', '2.0']) {
    assert.equal(said(`# x\n%YAML ${version}\n---\na: 1\n`), 'yaml: found incompatible YAML document');
  }
  assert.equal(said('a: "%YAML 1.2"\n'), '{"a":"%YAML 1.2"}');
  assert.equal(said('\t'), 'yaml: found character that cannot start any token');
  assert.equal(said(' \n# x\n'), 'null');
});

test('control characters are refused wherever they stand, in what is JSON too', () => {
  for (const letter of ['\0', '\x01', '\x1f', '\x7f', '\x84', '\ufffe']) {
    for (const text of [`a: b # ${letter}`, `a: "${letter}"`, `{"a":"${letter}"}`]) {
      assert.throws(() => parseYaml(text), /^Error: yaml: control characters are not allowed$/, JSON.stringify(text));
    }
  }
  assert.deepEqual(parseYaml('a: "\t\u2028\ufeff😀"').value, { a: '\t\u2028\ufeff😀' });
});

test('characters of four bytes are written by their number, in double quotes', () => {
  const text = encodeYaml({ a: '😀', b: 'x\n😀\n', c: 'é', '😀': '' });
  assert.equal(text, '"\\U0001F600": ""\na: "\\U0001F600"\nb: "x\\n\\U0001F600\\n"\nc: é\n');
  assert.deepEqual(parseYaml(text).value, { a: '😀', b: 'x\n😀\n', c: 'é', '😀': '' });
});

test('a tag that nobody knows makes a text of a scalar, and says nothing of anything else', () => {
  const tagged = '!a\nx: !foo true\nt: !!foo 3\nz: !foo [1]\nw: !!set {k}\nv: !foo\n? !foo u\n: 1';
  assert.deepEqual(parseYaml(tagged).value, { x: 'true', t: '3', z: [1], w: { k: null }, v: '', u: 1 });
  assert.throws(() => parseYaml('a: !e!foo b'), /: yaml: found undefined tag handle$/);
  assert.throws(() => parseYaml('b: 1\na: !e!foo b'), /yaml: line 1: found undefined tag handle/);
});

test('what is wrong with an object is reported in the order of its members’ names', () => {
  const type = typeOf('', 'v1', 'ConfigMap');
  assert.ok(type);
  const errorsOf = (yaml: string): readonly string[] => decodeYaml(type, Buffer.from(yaml), true).strictErrors;
  assert.deepEqual(errorsOf('zeta: 1\nmetadata: {name: a, odd: 1}\nalpha: 1\n'), [
    'unknown field "alpha"',
    'unknown field "metadata.odd"',
    'unknown field "zeta"',
  ]);
  assert.throws(() => errorsOf('metadata: {name: 1}\ndata: 1\n'), /ConfigMap\.data of type map/);
});

test('bytes that are no UTF-8 are refused where they stand, surrogates too', () => {
  const said = (...bytes: readonly (string | number)[]): string => {
    const parts = bytes.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([part])));
    try {
      return JSON.stringify(parseYaml(Buffer.concat(parts)).value);
    } catch (error) {
      return String(error);
    }
  };
  const refused = (why: string): string => `Error: yaml: ${why}`;
  assert.equal(said('a: b', 0xff), refused('invalid leading UTF-8 octet'));
  assert.equal(said('a: b # ', 0x80), refused('invalid leading UTF-8 octet'));
  assert.equal(said('{"a": "', 0xed, 0xa0, 0x80, '"}'), refused('invalid Unicode character'));
  assert.equal(said('a: ', 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80), refused('invalid Unicode character'));
  assert.equal(said('a: ', 0xf4, 0x90, 0x80, 0x80), refused('invalid Unicode character'));
  assert.equal(said('a: ', 0xc0, 0xaf), refused('invalid length of a UTF-8 sequence'));
  assert.equal(said('a: ', 0xe0, 0x80, 0x80), refused('invalid length of a UTF-8 sequence'));
  assert.equal(said('a: ', 0xc3, 'x'), refused('invalid trailing UTF-8 octet'));
  assert.equal(said('a: b', 0xe2, 0x82), refused('incomplete UTF-8 octet sequence'));
  assert.equal(said('a: \x01', 0xff), refused('control characters are not allowed'));
  assert.equal(said('a: é😀'), '{"a":"é😀"}');
});

test('a key of a block mapping begins its line', () => {
  for (const [text, line] of [
    ["rules:\n- '*'s:\n", 1],
    ['rules:\n- "*"s: 1\n', 1],
    ["rules:\n- a:\n  - '*'s:\n  - b: c", 2],
    ['a:\n- [1]s: 2', 1],
    ['a: &x 1\nb:\n- *x s: 2', 2],
  ] as const) {
    assert.throws(() => parseYaml(text), { message: `yaml: line ${line}: did not find expected key` }, text);
  }
  const fine =
    "a: 'b'\n'c': 1\n  \n\"d\": 2\n&x e: 3\n!!str f: 4\n? g\n: 5\nh:\n- {i: 1, 'j': 2}\n- k: 1\n  'l': 2\r\nm: 3";
  assert.deepEqual(parseYaml(fine).value, {
    a: 'b',
    c: 1,
    d: 2,
    e: 3,
    f: 4,
    g: 5,
    h: [
      { i: 1, j: 2 },
      { k: 1, l: 2 },
    ],
    m: 3,
  });
});

test('a document does not end before it has begun', () => {
  const why = 'did not find expected node content';
  for (const text of ['...', '...\n', '...\na: 1', '... # x\na: 1']) {
    assert.throws(() => parseYaml(text), { message: `yaml: ${why}` }, text);
  }
  assert.throws(() => parseYaml('# x\n\n...\na: 1'), { message: `yaml: line 2: ${why}` });
  assert.deepEqual(parseYaml('a: 1\n...\nb: 2').value, { a: 1 });
  assert.deepEqual(parseYaml('...x: 1').value, { '...x': 1 });
  assert.equal(parseYaml('---\n...\n---\na: 1').value, null);
});

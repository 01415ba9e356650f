import assert from 'node:assert/strict';
import { test } from 'node:test';
import { issues, messages, result } from '../testing.js';

const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

test('a mistake is shown with its line and a caret below it, wide below wide characters', () => {
  assert.equal(
    issues("'é' +\n  $"),
    [
      "ERROR: <input>:2:3: Syntax error: token recognition error at: '$'\n |   $\n | ..^",
      `ERROR: <input>:2:4: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}\n |   $\n | ...^`,
    ].join('\n'),
  );
  assert.match(issues("['é', 😁]") ?? '', /\n \| \['é', 😁\]\n \| \.\.．\.\.\.＾/u);
});

const SYNTAX: readonly (readonly [string, ...string[]])[] = [
  ['', `1:0 Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`],
  ['1 +', `1:4 Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`],
  [
    '1 + +',
    `1:5 Syntax error: mismatched input '+' expecting ${OPERAND}`,
    `1:6 Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`,
  ],
  ['a b', "1:3 Syntax error: extraneous input 'b' expecting <EOF>"],
  [
    'a | b',
    "1:3 Syntax error: token recognition error at: '| '",
    "1:5 Syntax error: extraneous input 'b' expecting <EOF>",
  ],
  ['size(1', "1:7 Syntax error: missing ')' at '<EOF>'"],
  ['{a}', "1:3 Syntax error: mismatched input '}' expecting ':'"],
  [
    'msg{:a}',
    "1:5 Syntax error: extraneous input ':' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
    "1:7 Syntax error: mismatched input '}' expecting ':'",
  ],
  ['self.true == 1', "1:6 Syntax error: mismatched input 'true' expecting IDENTIFIER"],
  ['{"a": 1}."a"', `1:10 Syntax error: no viable alternative at input '."a"'`],
  [
    '--',
    "1:3 Syntax error: no viable alternative at input '-'",
    `1:3 Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`,
  ],
  [
    "'abc",
    "1:1 Syntax error: token recognition error at: ''abc'",
    `1:5 Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`,
  ],
];
for (const [text, ...wanted] of SYNTAX) {
  test(`wrong syntax: ${text}`, () => assert.deepEqual(messages(text), wanted));
}

test('what the grammar allows but the language does not', () => {
  assert.deepEqual(messages('[1].map(var, var)'), [
    '1:9 reserved identifier: var',
    '1:9 argument is not an identifier',
    '1:14 reserved identifier: var',
  ]);
  assert.deepEqual(messages('9223372036854775808'), ['1:1 invalid int literal']);
  assert.deepEqual(messages('0xFFFFFFFFFFFFFFFFFu'), ['1:1 invalid uint literal']);
  assert.deepEqual(messages('1.99e90000009'), ['1:1 invalid double literal']);
  assert.deepEqual(messages('has(1)'), ['1:5 invalid argument to has() macro']);
  assert.deepEqual(messages('[1].all(a.b, true)'), ['1:10 argument must be a simple name']);
  assert.deepEqual(messages('[1].all(i, i, true)'), ['1:12 duplicate variable name: i']);
  assert.deepEqual(messages('{}.`a-b`'), ["1:4 unsupported syntax: '`'"]);
});

test('expressions nest up to a limit', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  assert.equal(issues(nested(249)), undefined);
  assert.equal(issues(nested(251)), 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250');
  const sum = (terms: number): string => Array.from({ length: terms }, () => '1').join(' + ');
  assert.equal(result(sum(251)), 'int 251');
  assert.equal(issues(sum(252)), 'ERROR: <input>:-1:0: max recursion depth exceeded');
  const or = Array.from({ length: 5000 }, () => 'false').join(' || ');
  assert.equal(result(or), 'bool false');
  assert.equal(
    issues(' '.repeat(100_001)),
    'ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000',
  );
});

test('macros that copy their target do not fill the memory', () => {
  const chain = `optional.of(1)${'.optMap(x, x + 1)'.repeat(40)}`;
  assert.equal(issues(chain), 'ERROR: <input>:-1:0: expression recursion limit exceeded: 250');
  assert.equal(result(`optional.of(1)${'.optMap(x, x + 1)'.repeat(8)}.value()`), 'int 9');
});

test('literals', () => {
  assert.equal(result(String.raw`"\u00e9\x41\101\n\U0001F600"`), 'string éAA\n😀');
  assert.equal(result(String.raw`r'\d+' + R"\n"`), String.raw`string \d+\n`);
  assert.equal(result(String.raw`b"\xff\303é"`), 'bytes [255 195 195 169]');
  assert.equal(result("'''a\r\nb'''"), 'string a\nb');
  assert.equal(result('-9223372036854775808'), 'int -9223372036854775808');
  assert.equal(result('--5 - -5'), 'int 10');
  assert.equal(result('.5e1 // half of ten'), 'double 5');
  assert.equal(result('[1, 2,][0] + {"a": 3,}.a'), 'int 4');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { result } from '../testing.js';

const RESULTS: readonly (readonly [string, string])[] = [
  // strings count characters
  ['"a😀b".charAt(1) + "a😀b".substring(2)', 'string 😀b'],
  ['"tacocat".indexOf("c", 3) + "tacocat".lastIndexOf("t", 5)', 'int 4'],
  ['"😀a😀".lastIndexOf("😀") + "😀a".indexOf("a")', 'int 3'],
  ['"tacocat".indexOf("a", -1)', 'error: index out of range: -1'],
  ['"tacocat".substring(3, 1)', 'error: invalid substring range. start: 3, end: 1'],
  ['"hello hello".replace("he", "we", 1) + "ab".replace("", "_")', 'string wello hello_a_b_'],
  ['"a,b,c".split(",", 2)', 'list [a, b,c]'],
  ['"é".split("") + "".split(",")', 'list [é, ]'],
  ['[dyn("a"), dyn(1)].join("-")', 'error: join: invalid input: 1'],
  ['"TacoCÆt".lowerAscii() + "tæc".upperAscii()', 'string tacocÆtTæC'],
  ['"\\u2003 x\\u0085".trim()', 'string x'],
  ['strings.quote("a\\"\\n")', 'string "a\\"\\n"'],
  // format
  ['"%s %d %% %x %X %o %b".format(["a", 1, 255, b"\\xff", 8, 5])', 'string a 1 % ff FF 10 101'],
  ['"%.2f %f".format([12345.678, 0.5])', 'string 12,345.68 0.500000'],
  ['"%.0f %.0f".format([2.5, 3.5])', 'string 2 4'],
  ['"%e".format([1052.032911275])', 'string 1.052033×10⁰³'],
  [
    '"%.1f %.0f %.259f".format([1e21, -1e23, 0.5])',
    'string 1,000,000,000,000,000,000,000.0 -99,999,999,999,999,991,611,392 0.500',
  ],
  ['"%e|%.15e".format([double("NaN"), 1.5])', 'string    NaN|  1.500000×10⁰⁰'],
  ['"%s".format([[-0.0, 1e23]])', 'string [-0.000000, 99999999999999991611392.000000]'],
  ['"%s".format([[1.5, "a", null, duration("1s")]])', 'string [1.500000, "a", null, duration("1s")]'],
  ['"%s".format([{"b": 1, "a": b"x"}])', 'string {"a":b"x", "b":1}'],
  ['"%s".format([type(1)]) + "%s".format([1.0])', 'string int1'],
  [
    'dyn("%d").format([1, 2][?5].hasValue() ? [1] : [dyn("a")])',
    'error: error during formatting: decimal clause can only be used on integers, was given string',
  ],
  ['dyn("%z").format([1])', 'error: could not parse formatting clause: unrecognized formatting clause "z"'],
  ['dyn("%d %d").format([1])', 'error: index 1 out of range'],
  ['dyn("%é").format([1])', 'error: could not parse formatting clause: unrecognized formatting clause "Ã"'],
  // lists
  ['[1, 2, 3, 4].slice(1, 3)', 'list [2, 3]'],
  ['[1].slice(0, 2)', 'error: cannot slice(0, 2), list is length 1'],
  ['[[1, [2]], [3]].map(x, dyn(x)).flatten(2) == [1, 2, 3]', 'bool true'],
  ['[3, 1, 2].sort() + [2, 1].reverse() + lists.range(2)', 'list [1, 2, 3, 1, 2, 0, 1]'],
  ['["bb", "a"].sortBy(s, s.size())', 'list [a, bb]'],
  ['[dyn(1), dyn("a")].sort()', 'error: list elements must have the same type'],
  ['[1, 2, 1].distinct()', 'list [1, 2]'],
  ['dyn([1, [2]]).flatten()', 'list [1, 2]'],
  ['dyn("a").flatten()', 'error: no such overload: string.flatten()'],
  ['dyn("a").flatten(1)', 'error: no such overload: string.flatten(int)'],
  ['[dyn(null)].sort()', 'error: list elements must be comparable'],
  // Where kube-apiserver stumbles over what a call has cost, the whole evaluation ends, and says so in Go's words.
  [
    '[{"a": 1}].map(x, x.b).distinct()',
    'error: internal error: interface conversion: *types.Err is not traits.Lister: missing method Add',
  ],
  [
    'dyn(1).distinct()',
    'error: internal error: interface conversion: types.Int is not traits.Lister: missing method Contains',
  ],
  ['dyn([1]).flatten(dyn("x"))', 'error: internal error: interface conversion: ref.Val is types.String, not types.Int'],
  ['{"a": 1}[dyn(b"a")]', 'error: invalid qualifier type: types.Bytes'],
  // sets
  ['sets.contains([1, 2], [2]) && sets.equivalent([1, 1], [1]) && !sets.intersects([1], [2])', 'bool true'],
];
for (const [text, wanted] of RESULTS) {
  test(text, () => assert.equal(result(text, { settings: { homogeneousLiterals: false } }), wanted));
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelSelectorAsSelector, parseLabelSelector } from './label-selector.js';

test('a selector prints in canonical form, by key, with its values sorted', () => {
  const cases: Record<string, string> = {
    '': '',
    'b=2,a==1': 'a==1,b=2',
    'x in (c, a,b),!y, z': '!y,x in (a,b,c),z',
    'x notin ()': 'x notin ()',
    'x in (,a)': 'x in (,a)',
    'x=': 'x=',
    'in in (in,notin)': 'in in (in,notin)',
    'n>5,m < 3': 'm<3,n>5',
  };
  for (const [text, canonical] of Object.entries(cases)) {
    const printed = parseLabelSelector(text).toString();
    assert.deepEqual(printed.split(',').toSorted(), canonical.split(',').toSorted(), text);
    assert.equal(parseLabelSelector(printed).toString(), printed);
  }
});

test('what is no selector is refused in the reference’s words', () => {
  const cases: Record<string, string> = {
    'a=b c': "found 'c', expected: ',' or 'end of string'",
    'a,': "found '', expected: identifier after ','",
    ',a': "found ',', expected: !, identifier, or 'end of string'",
    'a in b': "unable to parse requirement: found 'b' expected: '('",
    'a b': "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
    'a=(': "unable to parse requirement: found '(', expected: identifier",
    'n>x':
      "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer",
  };
  for (const [text, message] of Object.entries(cases)) {
    assert.throws(() => parseLabelSelector(text), { message }, text);
  }
  assert.throws(() => parseLabelSelector('-a'), /^Error: unable to parse requirement: <nil>: Invalid value: "-a": /);
  assert.throws(
    () => parseLabelSelector('a=-'),
    /^Error: unable to parse requirement: values\[0\]\[a\]: Invalid value: "-": /,
  );
});

test('labels match by the rules of each operator', () => {
  const labels = { a: '1', n: '7' };
  for (const text of ['a=1', 'a!=2', 'z!=2', 'a in (1,2)', 'z notin (1)', 'a', '!z', 'n>6', 'n<8', '']) {
    assert.equal(parseLabelSelector(text).matches(labels), true, text);
  }
  for (const text of ['a=2', 'a!=1', 'z in (1)', 'a notin (1)', 'z', '!a', 'a>1', 'z>1', 'n<7']) {
    assert.equal(parseLabelSelector(text).matches(labels), false, text);
  }
});

test('a selector object that is absent selects nothing, an empty one everything', () => {
  assert.equal(labelSelectorAsSelector(undefined).matches({ a: 'b' }), false);
  assert.equal(labelSelectorAsSelector({}).matches({ a: 'b' }), true);
  const selector = labelSelectorAsSelector({
    matchLabels: { b: '1' },
    matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['y', 'x'] }],
  });
  assert.equal(selector.toString(), 'a notin (x,y),b=1');
  assert.throws(() => labelSelectorAsSelector({ matchExpressions: [{ key: 'a', operator: 'is' }] }), {
    message: '"is" is not a valid label selector operator',
  });
  assert.throws(() => labelSelectorAsSelector({ matchExpressions: [{ key: 'a', operator: 'In' }] }), {
    message: "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
  });
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelSelectorAsSelector, parseLabelSelector } from './label-selector.js';

test('a selector is formatted canonically, by key, with its values sorted', () => {
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
    const formatted = parseLabelSelector(text).toString();
    assert.deepEqual(formatted.split(',').toSorted(), canonical.split(',').toSorted(), text);
    assert.equal(parseLabelSelector(formatted).toString(), formatted);
  }
});

test('what is no selector is refused in kube-apiserver’s words', () => {
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

test('many requirements mean together what each of them means', () => {
  const keys = ['a', 'b', 'c'];
  const values = ['', '1', '5', '9', 'x', 'y'];
  let seed = 7;
  const pick = <T>(of: readonly T[]): T => of[(seed = (seed * 48271) % 2147483647) % of.length] as T;
  const term = (): string => {
    const key = pick(keys);
    return pick([
      () => key,
      () => `!${key}`,
      () => `${key}=${pick(values)}`,
      () => `${key}!=${pick(values)}`,
      () => `${key} in (${pick(values)},${pick(values)},5)`,
      () => `${key} notin (${pick(values)},${pick(values)})`,
      () => `${key}>${pick(['1', '5'])}`,
      () => `${key}<${pick(['5', '9'])}`,
    ])();
  };
  const filler = Array.from({ length: 20 }, (_, i) => `!z${i}`).join(',');
  let met = 0;
  for (let i = 0; i < 5_000; i++) {
    const text = Array.from({ length: 1 + (i % 3) }, term).join(',');
    const labels = Object.fromEntries(keys.filter(() => pick([true, false])).map((key) => [key, pick(values)]));
    const expected = parseLabelSelector(text).matches(labels);
    assert.equal(
      parseLabelSelector(`${text},${filler}`).matches(labels),
      expected,
      `${text} ${JSON.stringify(labels)}`,
    );
    if (expected) met++;
  }
  assert.ok(met > 500 && met < 4_500, `${met}`);
  assert.equal(parseLabelSelector(filler).matches(null), true);
  assert.equal(parseLabelSelector(`${filler},a`).matches(undefined), false);
});

test('a long selector reads each object a few times, whatever it has', () => {
  const many = Array.from({ length: 10_000 }, (_, i) => i);
  let reads = 0;
  const labels = new Proxy<Record<string, string>>(
    { a: 'x' },
    {
      get: (of, key) => (reads++, of[key as string]),
      has: (of, key) => (reads++, key in of),
      getOwnPropertyDescriptor: (of, key) => (reads++, Object.getOwnPropertyDescriptor(of, key)),
    },
  );
  for (const text of [
    many.map((i) => `!k${i}`).join(','),
    many.map((i) => `a!=v${i}`).join(','),
    `a notin (${many.map((i) => `v${i}`).join(',')})`,
  ]) {
    assert.equal(parseLabelSelector(text).matches(labels), true);
  }
  assert.ok(reads < 20, `${reads}`);
});

test('nothing is read behind a mistake', () => {
  assert.throws(() => parseLabelSelector(`((${'a,'.repeat(10)}`), {
    message: "found '(', expected: !, identifier, or 'end of string'",
  });
  assert.throws(() => parseLabelSelector('a>=1'), /found '=', expected: identifier/);
});

// `npm run lint` refuses every regular expression it cannot prove linear. Here the rule itself is tried.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

const RULE = pathToFileURL(path.join(process.env['BINNACLE_ROOT'] ?? '.', 'tools/lint/linear-expressions.mjs')).href;
const verdicts = (patterns: readonly string[]): (string | null)[] => {
  const script = `import(${JSON.stringify(RULE)}).then(({ whyNotLinear }) =>
    console.log(JSON.stringify(${JSON.stringify(patterns)}.map((pattern) => whyNotLinear(pattern, '') ?? null))))`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' }));
};

test('expressions that backtrack, or whose proof is out of reach, are refused', () => {
  const refused = ['0+$', '^(a|a)*$', '^(/+|\\.)*$', '^\\d+\\.?\\d*$', '(a)\\1+', '(?=a)b*'];
  for (const [i, why] of verdicts(refused).entries()) assert.match(why ?? '', /backtrack|proven/, refused[i]);
});

test('expressions that go over a text once are accepted', () => {
  const accepted = ['^[a-z]([-a-z]*[a-z])?$', '[0-9]{1,3}', '^a*b*$', '\\+\\*', '[*+]'];
  assert.deepEqual(
    verdicts(accepted),
    accepted.map(() => null),
  );
});

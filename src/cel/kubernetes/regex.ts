// Finding what a regular expression (RE2) matches.
import type { RE2JS } from 're2js';
import type { Library } from '../library.js';
import type { Pace } from '../run/frame.js';
import { checkEffort, compileRegex } from '../run/regex.js';
import { INT, STRING, listType } from '../type.js';
import { StringList, CelError, type Value } from '../value.js';

const TEXTS = listType(STRING);

export const regexLibrary: Library = {
  name: 'kubernetes.regex',
  functions: [
    {
      name: 'find',
      dispatch: 'plain',
      overloads: [{ id: 'string_find_string', member: true, parameters: [STRING, STRING], result: STRING, call: find }],
    },
    {
      name: 'findAll',
      dispatch: 'plain',
      overloads: [
        {
          id: 'string_find_all_string',
          member: true,
          parameters: [STRING, STRING],
          result: TEXTS,
          paced: true,
          call: (text: string, pattern: string, pace: Pace) => findAll(text, pattern, -1n, pace),
        },
        {
          id: 'string_find_all_string_int',
          member: true,
          parameters: [STRING, STRING, INT],
          result: TEXTS,
          paced: true,
          call: findAll,
        },
      ],
    },
  ],
};

function find(text: string, pattern: string): Value {
  const expression = compiled(pattern, text);
  if (expression instanceof CelError) return expression;
  const matcher = expression.matcher(text);
  return matcher.find() ? (matcher.group() ?? '') : '';
}

/** The first `most` matches; all of them when that is negative. Each may look at all that is left of the text. */
function findAll(text: string, pattern: string, most: bigint, pace: Pace): Value {
  const expression = compiled(pattern, text);
  if (expression instanceof CelError) return expression;
  const found: string[] = [];
  const matcher = expression.matcher(text);
  let end = -1;
  while ((most < 0n || BigInt(found.length) < most) && matcher.find()) {
    pace.begin(text);
    // Nothing right after a match is no match of its own.
    if (matcher.end() > matcher.start() || matcher.start() !== end) found.push(matcher.group() ?? '');
    end = matcher.end();
  }
  return new StringList(found);
}

/** The expression, to be tried on a text. */
function compiled(pattern: string, text: string): RE2JS | CelError {
  const expression = compileRegex(pattern);
  if (expression instanceof CelError) return new CelError(`Illegal regex: ${expression.message}`);
  checkEffort(expression, text);
  return expression;
}

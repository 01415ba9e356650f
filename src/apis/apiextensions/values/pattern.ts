// Patterns in schemas are RE2: the time a match takes grows no faster than the pattern and the value together. Both may
// be so long that this is still minutes, and here nothing else runs meanwhile: so there is a bound.
import { errorText } from '../../../lib/text/error-text.js';
import { compileRegexp } from '../../../lib/go/regexp.js';
import { boundedMemo } from '../../../lib/values/bounded-memo.js';

export type CompiledPattern =
  | { matches(text: string): boolean; /** Instructions. */ readonly size: number }
  | { readonly error: string };

export const MAX_MEMOIZED_PATTERNS = 2000;
/** Instructions of a pattern times characters of a value; about two seconds at the worst. */
const MAX_STEPS = 2e8;

/** Compiled once; kube-apiserver's words when the pattern is none. A value beyond the bound counts as no match. */
export const compilePattern = boundedMemo(MAX_MEMOIZED_PATTERNS, compile);

/** Making a program of a pattern takes about ten microseconds for each character. */
const MAX_CHARACTERS = 32 * 1024;

function compile(pattern: string): CompiledPattern {
  if (pattern.length > MAX_CHARACTERS) return { error: 'error parsing regexp: expression too large' };
  try {
    const expression = compileRegexp(pattern);
    const size = expression.programSize();
    const longest = MAX_STEPS / size;
    // Whether there is a match is found many times sooner than where it is.
    return { matches: (text) => text.length <= longest && expression.test(text), size };
  } catch (error) {
    return { error: errorText(error) };
  }
}

import type { RE2JS } from 're2js';
import { errorText } from '../../lib/text/error-text.js';
import { compileRegexp } from '../../lib/go/regexp.js';
import { boundedMemo } from '../../lib/values/bounded-memo.js';
import { CelError } from '../value.js';
import { Cancelled, COST_EXCEEDED } from './frame.js';

const MAX_MEMOIZED = 512;
/** Instructions of a pattern times characters of a text. A match blocks the event loop, so there is a bound. */
const MAX_STEPS = 5e7;

/** A regular expression, or why it is none. */
export const compileRegex = boundedMemo(MAX_MEMOIZED, (pattern: string): RE2JS | CelError => {
  try {
    return compileRegexp(pattern);
  } catch (error) {
    return new CelError(errorText(error));
  }
});

/** Stops the evaluation where trying the pattern on the text would hold everything else up. */
export function checkEffort(regex: RE2JS, text: string): void {
  if (text.length * regex.programSize() > MAX_STEPS) throw new Cancelled(COST_EXCEEDED);
}

export function matchesRegex(regex: RE2JS, text: string): boolean {
  checkEffort(regex, text);
  return regex.test(text);
}

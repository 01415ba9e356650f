// Regular expressions as Go reads them. The library reads the same language but for two things: it wants the names of
// groups to differ, and of a backslash at the end it does not say what follows.
import { RE2JS } from 're2js';
import { errorText } from '../text/error-text.js';

/** The expression; throws with Go's text when it is none. */
export function compileRegexp(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    const text = errorText(error);
    if (text.startsWith(DUPLICATE_NAME)) return RE2JS.compile(withoutNames(pattern));
    throw text === TRAILING_BACKSLASH ? new Error(`${text}: \`\``) : error;
  }
}

const DUPLICATE_NAME = 'error parsing regexp: duplicate capture group name';
const TRAILING_BACKSLASH = 'error parsing regexp: trailing backslash at end of expression';

/** Quoted text, an escaped character, a class, the beginning of a named group, or one character of the rest. */
const PIECE = /\\Q(?:[^\\]|\\[^E])*(?:\\E)?|\\[^]|\[\^?\]?(?:\[:\^?\w*:\]|\\[^]|[^\]\\])*\]?|\(\?P?<\w+>|[^]/g;

/** No caller reads groups by their names. */
const withoutNames = (pattern: string): string =>
  pattern.replace(PIECE, (piece) => (piece.startsWith('(?') ? '(' : piece));

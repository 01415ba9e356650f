import { RE2JS } from 're2js';
import { errorText } from '../../lib/error-text.js';
import { remember } from '../../lib/remember.js';
import { CelError } from '../value.js';

const MOST_REMEMBERED = 512;

/** A regular expression, or why it is none. */
export const compileRegex = remember(MOST_REMEMBERED, (pattern: string): RE2JS | CelError => {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    return new CelError(errorText(error));
  }
});

// Patterns in schemas are RE2, so that no pattern can stall the server.
import { RE2JS } from 're2js';
import { errorText } from '../../../lib/error-text.js';
import { remember } from '../../../lib/remember.js';

export type CompiledPattern = { matches(text: string): boolean } | { readonly error: string };

const MOST_REMEMBERED = 1000;

/** Compiled once; the reference's words when the pattern is none. */
export const compilePattern = remember(MOST_REMEMBERED, compile);

function compile(pattern: string): CompiledPattern {
  try {
    const expression = RE2JS.compile(pattern);
    return { matches: (text) => expression.matcher(text).find() };
  } catch (error) {
    return { error: errorText(error) };
  }
}

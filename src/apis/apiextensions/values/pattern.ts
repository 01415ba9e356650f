// Patterns in schemas are RE2, so that no pattern can stall the server.
import { RE2JS } from 're2js';

export type CompiledPattern = { matches(text: string): boolean } | { readonly error: string };

const MAX_KEPT = 1000;
const kept = new Map<string, CompiledPattern>();

/** Compiled once; the reference's words when the pattern is none. */
export function compilePattern(pattern: string): CompiledPattern {
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  if (kept.size >= MAX_KEPT) kept.clear();
  const compiled = compile(pattern);
  kept.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): CompiledPattern {
  try {
    const expression = RE2JS.compile(pattern);
    return { matches: (text) => expression.matcher(text).find() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

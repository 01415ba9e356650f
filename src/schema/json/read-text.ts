// JSON text to a tree: by JSON.parse where that keeps what was written.
import { bufferOf } from '../../lib/values/buffer-of.js';
import { JsonSyntaxError, type ParsedJson, parseExactJson, type ParseOptions } from './parse.js';
import { DecodeError } from './walk.js';

export const noneRepeated: ParsedJson['repeated'] = new Map();

export function textOf(input: Uint8Array | string): string {
  if (typeof input === 'string') return withoutLoneSurrogates(input);
  const buffer = bufferOf(input);
  return withoutLoneSurrogates(buffer.toString('utf8'));
}

/** Half a pair of surrogates is no character: it would not come back from the store, which keeps UTF-8. */
function withoutLoneSurrogates(text: string): string {
  if (!text.includes('\\u') || !SURROGATE_ESCAPE.test(text)) return text;
  return text.replace(ESCAPE, (escape) => (LONE_SURROGATE.test(escape) ? '\\ufffd' : escape));
}

const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const ESCAPE = /\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|[^])/g;
const LONE_SURROGATE = /^\\u[dD][89a-fA-F].{2}$/;

interface ReadOptions extends ParseOptions {
  /** Some numbers would change in JSON.parse(), or repeated names are wanted. Floats are kept then, unless said. */
  readonly exact: boolean;
}

export function parse(text: string, { exact, keepFloats = exact, noteFloats = false }: ReadOptions): ParsedJson {
  if (!exact) {
    try {
      return { value: JSON.parse(text), repeated: noneRepeated };
    } catch {
      // The exact parser fails too, in kube-apiserver's words.
    }
  }
  try {
    return parseExactJson(text, { keepFloats, noteFloats });
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new DecodeError(error.message);
    throw error;
  }
}

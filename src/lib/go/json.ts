import { jsonText } from '../json/stringify.js';

/** JSON as Go encodes it: safe inside HTML. */
export const goJson = (value: unknown): string => escapeHtml(jsonText(value));

/** The characters JSON need not escape but Go's printer does. */
export const escapeHtml = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

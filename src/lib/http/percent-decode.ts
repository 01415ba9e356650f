import { decodePath } from './request-target.js';

/** The text with its percent escapes decoded; a malformed escape stays as it is. */
export const percentDecode = (text: string): string => decodePath(text) ?? text;

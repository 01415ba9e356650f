import { decodePath } from './request-target.js';

/** The text with its percent escapes read; one that is malformed is taken as it is. */
export const percentDecode = (text: string): string => decodePath(text) ?? text;

// A text split at a separator, or replaced at it. Both go through a text of any length, so they do it in blocks and ask
// between them whether to go on.
import { indexOfText } from '../libraries/find-text.js';
import type { Pace } from './frame.js';
import { checkCharacters } from './size-limits.js';

/** So many are made at once. */
const PIECES_OF_BLOCK = 1024;

/** At most `most` pieces, the last of which has all the rest. At an empty separator they are characters. */
export function splitPaced(text: string, separator: string, most: number, pace: Pace): string[] {
  const pieces: string[] = [];
  for (const block of blocksOf(text, separator, most)) {
    for (const piece of block) pieces.push(piece);
    pace.check();
  }
  return pieces;
}

export interface Replacement {
  /** What is replaced. An empty text stands around every character. */
  readonly old: string;
  readonly replacement: string;
  /** At most so many are replaced. */
  readonly most: number;
}

export function replacePaced(text: string, { old, replacement, most }: Replacement, pace: Pace): string {
  if (most === 0 || old === replacement) return text;
  const isEmpty = old === '';
  if (isEmpty && text === '') return replacement;
  const blocks: string[] = [];
  let pieces = 0;
  let characters = 0;
  for (const block of blocksOf(text, old, isEmpty ? most : most + 1)) {
    pieces += block.length;
    for (const piece of block) characters += piece.length + replacement.length;
    checkCharacters(characters);
    blocks.push(block.join(replacement));
    pace.check();
  }
  const replaced = blocks.join(replacement);
  if (!isEmpty) return replaced;
  return `${replacement}${replaced}${pieces < most ? replacement : ''}`;
}

function* blocksOf(text: string, separator: string, most: number): Iterable<string[]> {
  let block: string[] = [];
  let left = most;
  let start = 0;
  while (left > 1) {
    const end = separator === '' ? characterEnd(text, start) : indexOfText(text, separator, start);
    if (end < 0 || (separator === '' && end >= text.length)) break;
    block.push(text.slice(start, end));
    start = end + separator.length;
    left--;
    if (block.length < PIECES_OF_BLOCK) continue;
    yield block;
    block = [];
  }
  // An empty text has no characters, and is one piece otherwise.
  if (separator !== '' || text !== '') block.push(text.slice(start));
  if (block.length > 0) yield block;
}

/** Where the character that begins at a place ends. */
const characterEnd = (text: string, start: number): number => start + ((text.codePointAt(start) ?? 0) > 0xffff ? 2 : 1);

// The form of bytes whose sender did not say it, from how they begin: the table of the WHATWG's MIME Sniffing Standard, as
// Go's web server has it.

/** More than these nobody looks at. */
const GUESSED_FROM_BYTES = 512;

export function guessMediaType(bytes: Buffer): string {
  const start = bytes.subarray(0, GUESSED_FROM_BYTES);
  const text = start.toString('latin1');
  const bare = text.slice(firstNot(text, isSpace));
  if (HTML_TAGS.some((tag) => beginsWithTag(bare, tag))) return 'text/html; charset=utf-8';
  if (bare.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  for (const [type, ...beginnings] of BEGINNINGS) if (beginnings.some((one) => begins(text, one))) return type;
  if (isMp4(start)) return 'video/mp4';
  return firstNot(text, isText) === text.length ? 'text/plain; charset=utf-8' : 'application/octet-stream';
}

const HTML_TAGS: readonly string[] = [
  ['<!DOCTYPE HTML', '<HTML', '<HEAD', '<SCRIPT', '<IFRAME', '<H1', '<DIV', '<FONT', '<TABLE', '<A', '<STYLE'],
  ['<TITLE', '<B', '<BODY', '<BR', '<P', '<!--'],
].flat();

const beginsWithTag = (text: string, tag: string): boolean =>
  text.slice(0, tag.length).toUpperCase() === tag && (text[tag.length] === ' ' || text[tag.length] === '>');

/** `?` stands for any byte. */
const BEGINNINGS: readonly (readonly [type: string, ...beginnings: string[]])[] = [
  ['application/pdf', '%PDF-'],
  ['application/postscript', '%!PS-Adobe-'],
  ['text/plain; charset=utf-16be', '\xfe\xff'],
  ['text/plain; charset=utf-16le', '\xff\xfe'],
  ['text/plain; charset=utf-8', '\xef\xbb\xbf'],
  ['image/x-icon', '\0\0\x01\0', '\0\0\x02\0'],
  ['image/bmp', 'BM'],
  ['image/gif', 'GIF87a', 'GIF89a'],
  ['image/webp', 'RIFF????WEBPVP'],
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['audio/basic', '.snd'],
  ['audio/aiff', 'FORM????AIFF'],
  ['audio/mpeg', 'ID3'],
  ['application/ogg', 'OggS\0'],
  ['audio/midi', 'MThd\0\0\0\x06'],
  ['video/avi', 'RIFF????AVI '],
  ['audio/wave', 'RIFF????WAVE'],
  ['video/webm', '\x1a\x45\xdf\xa3'],
  ['application/vnd.ms-fontobject', `${'?'.repeat(34)}LP`],
  ['font/ttf', '\0\x01\0\0'],
  ['font/otf', 'OTTO'],
  ['font/collection', 'ttcf'],
  ['font/woff', 'wOFF'],
  ['font/woff2', 'wOF2'],
  ['application/x-gzip', '\x1f\x8b\x08'],
  ['application/zip', 'PK\x03\x04'],
  ['application/x-rar-compressed', 'Rar!\x1a\x07\0', 'Rar!\x1a\x07\x01\0'],
  ['application/wasm', '\0asm'],
];

function begins(text: string, beginning: string): boolean {
  if (text.length < beginning.length) return false;
  for (let i = 0; i < beginning.length; i++) if (beginning[i] !== '?' && text[i] !== beginning[i]) return false;
  return true;
}

/** A box that names what is in it, by words of four bytes. */
function isMp4(start: Buffer): boolean {
  if (start.length < 12) return false;
  const boxBytes = start.readUInt32BE(0);
  if (boxBytes % 4 !== 0 || start.length < boxBytes || start.toString('latin1', 4, 8) !== 'ftyp') return false;
  for (let at = 8; at < boxBytes; at += 4) if (at !== 12 && start.toString('latin1', at, at + 3) === 'mp4') return true;
  return false;
}

function firstNot(text: string, holds: (code: number) => boolean): number {
  let at = 0;
  while (at < text.length && holds(text.charCodeAt(at))) at++;
  return at;
}

const isSpace = (code: number): boolean => code === 9 || code === 10 || code === 12 || code === 13 || code === 32;

/** No text has control characters, but for line ends, tabs and the like, and the one that begins a colour. */
const isText = (code: number): boolean => code >= 32 || isSpace(code) || code === 0x1b;

// What a file is: by its name, or by how its bytes begin (https://mimesniff.spec.whatwg.org, as Go reads it).
const BY_EXTENSION: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.mjs': 'text/javascript; charset=utf-8',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.wasm': 'application/wasm',
  '.webp': 'image/webp',
  '.xml': 'text/xml; charset=utf-8',
};

export const SNIFFED_BYTES = 512;

export function contentTypeByName(name: string): string | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : BY_EXTENSION[name.slice(dot).toLowerCase()];
}

/** `start` is the file's first bytes, at most SNIFFED_BYTES of them. */
export function sniffContentType(start: Buffer): string {
  const text = start.toString('latin1');
  const trimmed = text.replace(/^[\t\n\f\r ]+/, '');
  if (looksLikeHtml(trimmed)) return 'text/html; charset=utf-8';
  if (trimmed.startsWith('<?xml')) return 'text/xml; charset=utf-8';
  const known = SIGNATURES.find(([signature]) => begins(text, signature));
  if (known !== undefined) return known[1];
  if (isMp4(start, text)) return 'video/mp4';
  return BINARY.test(text) ? 'application/octet-stream' : 'text/plain; charset=utf-8';
}

const HTML_TAGS = ['!DOCTYPE HTML', 'HTML', 'HEAD', 'SCRIPT', 'IFRAME', 'H1', 'DIV', 'FONT', 'TABLE'].concat([
  'A',
  'STYLE',
  'TITLE',
  'B',
  'BODY',
  'BR',
  'P',
  '!--',
]);

function looksLikeHtml(trimmed: string): boolean {
  if (!trimmed.startsWith('<')) return false;
  const upper = trimmed.slice(1, 20).toUpperCase();
  return HTML_TAGS.some((tag) => upper.startsWith(tag) && [' ', '>'].includes(upper.charAt(tag.length)));
}

/** `?` stands for any byte. */
const begins = (text: string, signature: string): boolean => {
  if (text.length < signature.length) return false;
  for (let i = 0; i < signature.length; i++) {
    if (signature[i] !== '?' && signature[i] !== text[i]) return false;
  }
  return true;
};

const SIGNATURES: readonly (readonly [signature: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\xfe\xff??', 'text/plain; charset=utf-16be'],
  ['\xff\xfe??', 'text/plain; charset=utf-16le'],
  ['\xef\xbb\xbf?', 'text/plain; charset=utf-8'],
  ['\x00\x00\x01\x00', 'image/x-icon'],
  ['\x00\x00\x02\x00', 'image/x-icon'],
  ['BM', 'image/bmp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF????WEBPVP', 'image/webp'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['FORM????AIFF', 'audio/aiff'],
  ['ID3', 'audio/mpeg'],
  ['OggS\x00', 'application/ogg'],
  ['MThd\x00\x00\x00\x06', 'audio/midi'],
  ['RIFF????AVI ', 'video/avi'],
  ['RIFF????WAVE', 'audio/wave'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  [`${'?'.repeat(34)}LP`, 'application/vnd.ms-fontobject'],
  ['\x00\x01\x00\x00', 'font/ttf'],
  ['OTTO', 'font/otf'],
  ['ttcf', 'font/collection'],
  ['wOFF', 'font/woff'],
  ['wOF2', 'font/woff2'],
  ['\x1f\x8b\x08', 'application/x-gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07\x00', 'application/x-rar-compressed'],
  ['Rar!\x1a\x07\x01\x00', 'application/x-rar-compressed'],
  ['\x00asm', 'application/wasm'],
];

/** A first box of type `ftyp` one of whose brands is `mp4…`. */
function isMp4(start: Buffer, text: string): boolean {
  const boxBytes = start.length < 12 ? 0 : start.readUInt32BE(0);
  if (boxBytes > start.length || boxBytes % 4 !== 0 || text.slice(4, 8) !== 'ftyp') return false;
  for (let at = 8; at < boxBytes; at += 4) {
    // The version of the first brand.
    if (at !== 12 && text.startsWith('mp4', at)) return true;
  }
  return false;
}

/** Bytes that no text has. */
const BINARY = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/;

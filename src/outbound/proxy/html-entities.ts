// What stands for a character in an attribute of a page.

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const MAX_NAME_LENGTH = 32;

/** One of the few that addresses have is read; all others stay as they are, here and in `escapeAttribute`. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  let out = '';
  let at = 0;
  for (let found = text.indexOf('&'); found >= 0; found = text.indexOf('&', at)) {
    out += text.slice(at, found);
    const name = entityAt(text, found);
    const char = name === undefined ? undefined : charOf(name);
    out += char ?? '&';
    at = found + (char === undefined || name === undefined ? 1 : name.length + 2);
  }
  return out + text.slice(at);
}

function charOf(name: string): string | undefined {
  if (!name.startsWith('#')) return Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  // Beyond ASCII it depends on the page's encoding what bytes it would be.
  return code > 0 && code < 0x80 ? String.fromCharCode(code) : undefined;
}

/** The name between `&` and `;`, where there is one. */
function entityAt(text: string, at: number): string | undefined {
  const end = text.slice(at + 1, at + 2 + MAX_NAME_LENGTH).indexOf(';');
  const name = end < 0 ? '' : text.slice(at + 1, at + 1 + end);
  return /^(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z][A-Za-z0-9]*)$/.test(name) ? name : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  '\r': '&#13;',
};

export const escapeAttribute = (text: string): string =>
  text.replace(/[&'<>"\r]/g, (char, at: number) => {
    const left = char === '&' && isLeft(text, at);
    return left ? char : (ESCAPES[char] ?? char);
  });

/** It was not read, so it stands for a character still. */
const isLeft = (text: string, at: number): boolean => {
  const name = entityAt(text, at);
  return name !== undefined && charOf(name) === undefined;
};

// What is wrong with a Content-Type, in the words of Go's standard library.

const TOKEN = '[^\\0-\\x20\\x7f-\\u{10ffff}()<>@,;:\\\\"/\\[\\]?=]+';
const TYPE = new RegExp(`^(?:${TOKEN})?(?<slash>/(?<subtype>(?:${TOKEN})?))?`, 'u');
const PARAMETER = new RegExp(`\\s*;\\s*(?<name>${TOKEN})\\s*=\\s*(?:${TOKEN}|"(?:[^"\\\\\\r\\n]|\\\\.)*")`, 'uy');

/** Undefined when it can be read. */
export function mediaTypeFault(text: string): string | undefined {
  const end = text.indexOf(';');
  return typeFault((end < 0 ? text : text.slice(0, end)).trim()) ?? (end < 0 ? undefined : parameterFault(text, end));
}

function typeFault(type: string): string | undefined {
  const [read = '', { slash, subtype } = {}] = matchOf(type);
  if (read === '' || read.startsWith('/')) return 'mime: no media type';
  if (slash === undefined) return read === type ? undefined : 'mime: expected slash after first token';
  if (subtype === '') return 'mime: expected token after slash';
  return read === type ? undefined : 'mime: unexpected content after media subtype';
}

function matchOf(type: string): [string?, Readonly<Record<string, string | undefined>>?] {
  const match = TYPE.exec(type);
  return [match?.[0], match?.groups];
}

function parameterFault(text: string, start: number): string | undefined {
  const names = new Set<string>();
  for (let end = start; ; end = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = end;
    const name = PARAMETER.exec(text)?.groups?.['name']?.toLowerCase();
    if (name === undefined)
      return ['', ';'].includes(text.slice(end).trim()) ? undefined : 'mime: invalid media parameter';
    if (names.has(name)) return 'mime: duplicate parameter name';
    names.add(name);
  }
}

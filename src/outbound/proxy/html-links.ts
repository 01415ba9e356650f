// Links in a page, rewritten while it passes: only a tag is ever held back, never the page.
import { Transform, type TransformCallback } from 'node:stream';
import { decodeEntities, escapeAttribute } from './html-entities.js';

/** Attributes that hold addresses, by element. */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Elements whose content is text up to their end tag, whatever it looks like. */
const RAW_TEXT: ReadonlySet<string> = new Set([
  'iframe',
  'noembed',
  'noframes',
  'noscript',
  'plaintext',
  'script',
  'style',
  'textarea',
  'title',
  'xmp',
]);

/** What does not end within this is no tag worth reading: it passes as it is. */
const MAX_TAG_LENGTH = 64 * 1024;

/** `rewrite` answers the new address, or undefined to leave it. */
export class HtmlLinks extends Transform {
  /** Of the page, a character for each byte: what it is encoded in does not matter to its tags. */
  #held = '';
  /** The text that everything up to and including it passes as it is. */
  #until: string | undefined = undefined;
  /** Of the tag that is held back. */
  #tagEnd = new TagEnd();

  constructor(private readonly rewrite: (link: string) => string | undefined) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#held += chunk.toString('latin1');
    done(null, Buffer.from(this.#pass(), 'latin1'));
  }

  override _flush(done: TransformCallback): void {
    done(null, Buffer.from(this.#held, 'latin1'));
  }

  #pass(): string {
    const text = this.#held;
    let out = '';
    let at = 0;
    for (;;) {
      if (this.#until !== undefined) {
        const end = indexOfIgnoringCase(text, this.#until, at);
        // The end may have begun with the last characters that are there.
        if (end < 0) return this.#keep(text, out, at, Math.max(at, text.length - this.#until.length));
        out += text.slice(at, end + this.#until.length);
        at = end + this.#until.length;
        this.#until = undefined;
      }
      const open = text.indexOf('<', at);
      if (open < 0) return this.#keep(text, out, at, text.length);
      out += text.slice(at, open);
      at = open;
      if (text.startsWith('<!--', open)) {
        // Its dashes may be those of its end as well.
        out += '<!';
        at += 2;
        this.#until = '-->';
      } else if (!/^[a-z]$/i.test(text[open + 1] ?? '')) {
        // A comment or an end tag; the text so far may be too short to tell which.
        if (text.length - open < 4) return this.#keep(text, out, at, at);
        out += '<';
        at += 1;
        // A declaration is none of a page's tags, whatever stands in it.
        if (text[at] === '!' || text[at] === '?') this.#until = '>';
      } else {
        const close = this.#tagEnd.find(text, open);
        if (close < 0 && text.length - open <= MAX_TAG_LENGTH) return this.#keep(text, out, at, at);
        this.#tagEnd = new TagEnd();
        if (close < 0) return this.#keep(text, out, at, text.length);
        const tag = readTag(text.slice(open + 1, close));
        out += this.#write(tag);
        at = close + 1;
        if (RAW_TEXT.has(tag.name)) this.#until = `</${tag.name}`;
      }
    }
  }

  #keep(text: string, out: string, at: number, from: number): string {
    this.#held = text.slice(from);
    return out + text.slice(at, from);
  }

  #write({ name, attributes, closesItself }: Tag): string {
    const links = Object.hasOwn(LINKS, name) ? LINKS[name] : undefined;
    let text = `<${name}`;
    for (const [key, raw] of attributes) {
      const value = decodeEntities(raw);
      const rewritten = links?.includes(key) === true ? this.#rewritten(value) : undefined;
      text += ` ${key}="${escapeAttribute(rewritten ?? value)}"`;
    }
    return `${text}${closesItself ? '/>' : '>'}`;
  }

  #rewritten(value: string): string | undefined {
    const text = this.rewrite(Buffer.from(value, 'latin1').toString());
    return text === undefined ? undefined : Buffer.from(text).toString('latin1');
  }
}

interface Tag {
  readonly name: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
  readonly closesItself: boolean;
}

const isSpace = (char: string | undefined): boolean =>
  char === ' ' || char === '\n' || char === '\r' || char === '\t' || char === '\f';

/** Looks for where a tag closes: at a `>` that is in no quoted value. What has been looked at is not looked at again. */
class TagEnd {
  /** Characters scanned, with the bracket that opens the tag. */
  #seen = 1;
  #quote = '';

  /** `open`: where the tag begins. Negative while it has not closed. */
  find(text: string, open: number): number {
    for (; open + this.#seen < text.length && this.#seen <= MAX_TAG_LENGTH; this.#seen++) {
      const at = open + this.#seen;
      const char = text[at] as string;
      if (this.#quote !== '') {
        if (char === this.#quote) this.#quote = '';
      } else if (char === '>') return at;
      else if ((char === '"' || char === "'") && valueBegins(text, at)) this.#quote = char;
    }
    return -1;
  }
}

/** Only after an equals sign does a quote begin a value; elsewhere it is an ordinary character. */
function valueBegins(text: string, at: number): boolean {
  let before = at - 1;
  while (isSpace(text[before])) before--;
  return text[before] === '=';
}

/** `text`: the tag without its angle brackets. */
function readTag(text: string): Tag {
  let at = 0;
  let bareValueEnd = 0;
  const until = (stops: (char: string) => boolean): string => {
    const start = at;
    while (at < text.length && !stops(text[at] as string)) at++;
    return text.slice(start, at);
  };
  const skip = (): string => until((char) => !isSpace(char) && char !== '/');
  const name = until((char) => isSpace(char) || char === '/').toLowerCase();
  const attributes: [string, string][] = [];
  const names = new Set<string>();
  for (skip(); at < text.length; skip()) {
    // A name is never empty: a leading equals sign is part of it.
    const first = text[at] === '=' ? text.slice(at, ++at) : '';
    const key = first + until((char) => isSpace(char) || char === '/' || char === '=').toLowerCase();
    until((char) => !isSpace(char));
    let value = '';
    if (text[at] === '=') {
      at++;
      until((char) => !isSpace(char));
      const quote = text[at];
      if (quote === '"' || quote === "'") {
        at++;
        value = until((char) => char === quote);
        at++;
      } else {
        value = until(isSpace);
        bareValueEnd = at;
      }
    }
    // Of those of one name the first counts.
    if (!names.has(key)) attributes.push([key, value]);
    names.add(key);
  }
  // A slash that ends a value without quotes is the value's.
  return { name, attributes, closesItself: text.endsWith('/') && bareValueEnd < text.length };
}

function indexOfIgnoringCase(text: string, wanted: string, from: number): number {
  const first = wanted[0] as string;
  for (let at = text.indexOf(first, from); at >= 0; at = text.indexOf(first, at + 1)) {
    if (text.slice(at, at + wanted.length).toLowerCase() === wanted) return at;
  }
  return -1;
}

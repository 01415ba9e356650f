// Blocks of base64 between BEGIN and END lines, found as Go finds them.
//
//   -----BEGIN CERTIFICATE-----
//   Proc-Type: 4,ENCRYPTED          headers, until a line has no colon
//   MIIB…
//   -----END CERTIFICATE-----

export interface PemBlock {
  readonly type: string;
  /** `Proc-Type: …` lines before the data. */
  readonly hasHeaders: boolean;
  readonly bytes: Buffer;
  /** The block as it was written, with its BEGIN and END lines. */
  readonly text: string;
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const DASHES = '-----';
const BLANK = [' ', '\t', '\r'];
const BASE64_LINES = /^[A-Za-z0-9+/= \t\r\n]*$/;
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** Every well-formed block, in order; what lies between is passed over. Each place is looked at a bounded number of times. */
export function decodePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const reader = new Reader(text);
  let at = 0;
  for (;;) {
    const begin = reader.lineWith(BEGIN, at);
    if (begin < 0) return blocks;
    const found = blockAt(reader, begin);
    if (found === 'unclosed') return blocks;
    if (found.block !== undefined) blocks.push(found.block);
    at = found.next;
  }
}

function blockAt(reader: Reader, begin: number): { block?: PemBlock; next: number } | 'unclosed' {
  const { text } = reader;
  const first = reader.line(begin);
  if (!first.text.endsWith(DASHES) || first.text.length < BEGIN.length + DASHES.length) return { next: first.next };
  const type = first.text.slice(BEGIN.length, -DASHES.length);
  let body = first.next;
  for (let line = reader.line(body); line.text.includes(':'); line = reader.line(body)) body = line.next;
  const hasHeaders = body > first.next;
  const end = reader.lineWith(END, body);
  if (end < 0) return 'unclosed';
  const last = reader.line(end);
  if (last.text !== `${END}${type}${DASHES}`) return { next: body };
  // The first character that is no base64 ends this test, so that a row of BEGIN lines is not read once for each of
  // them.
  const lines = text.slice(body, end);
  if (!BASE64_LINES.test(lines)) return { next: body };
  const base64 = lines.replace(/[ \t\r\n]+/g, '');
  if (base64.length % 4 !== 0 || !BASE64.test(base64)) return { next: body };
  const bytes = Buffer.from(base64, 'base64');
  return { block: { type, hasHeaders, bytes, text: text.slice(begin, end + last.text.length) }, next: last.next };
}

class Reader {
  /** The last place each mark was found at: the next search mostly lies before it. */
  readonly #found = new Map<string, number>();

  constructor(readonly text: string) {}

  /** The first line at or after a place that begins with the mark; -1 without one. `from` is the start of a line. */
  lineWith(mark: string, from: number): number {
    const known = this.#found.get(mark);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    let at = from;
    if (!this.text.startsWith(mark, from)) {
      const before = this.text.indexOf(`\n${mark}`, from);
      at = before < 0 ? -1 : before + 1;
    }
    this.#found.set(mark, at);
    return at;
  }

  /** The line at a place without what is blank at its end, and where the next one begins. */
  line(at: number): { readonly text: string; readonly next: number } {
    const newline = this.text.indexOf('\n', at);
    const end = newline < 0 ? this.text.length : newline;
    let last = end;
    while (last > at && BLANK.includes(this.text[last - 1] ?? '')) last--;
    return { text: this.text.slice(at, last), next: newline < 0 ? end : newline + 1 };
  }
}

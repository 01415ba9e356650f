// Reads DER (ASN.1) as far as certificates and certificate requests need it: a tree of tagged pieces over the bytes.

export interface DerNode {
  readonly tag: number;
  /** The whole element, header included. */
  readonly raw: Buffer;
  readonly content: Buffer;
}

export class DerError extends Error {}

export const DER = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The element at `offset`; fails when it does not fit into the bytes. */
function readDer(bytes: Buffer, offset = 0): DerNode {
  const tag = bytes[offset];
  const first = bytes[offset + 1];
  if (tag === undefined || first === undefined) throw new DerError('truncated element');
  if ((tag & 0x1f) === 0x1f) throw new DerError('high tag numbers are not used here');
  let length = first;
  let start = offset + 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError('unsupported length');
    length = 0;
    for (let i = 0; i < count; i++) {
      const byte = bytes[start + i];
      if (byte === undefined) throw new DerError('truncated length');
      length = length * 256 + byte;
    }
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) throw new DerError('element reaches beyond its container');
  return { tag, raw: bytes.subarray(offset, end), content: bytes.subarray(start, end) };
}

/** One element that fills the bytes wholly. */
export function readWholeDer(bytes: Buffer, tag: number): DerNode {
  const node = readDer(bytes);
  if (node.raw.length !== bytes.length) throw new DerError('trailing data');
  if (node.tag !== tag) throw new DerError(`tag ${node.tag} where ${tag} was expected`);
  return node;
}

export function derChildren(node: DerNode): DerNode[] {
  const children: DerNode[] = [];
  for (let offset = 0; offset < node.content.length;) {
    const child = readDer(node.content, offset);
    children.push(child);
    offset += child.raw.length;
  }
  return children;
}

/** `1.2.840.113549` */
export function derOid(node: DerNode): string {
  if (node.tag !== DER.oid || node.content.length === 0) throw new DerError('not an object identifier');
  const arcs: number[] = [];
  let value = 0;
  for (const byte of node.content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw new DerError('object identifier arc is too large');
    if ((byte & 0x80) !== 0) continue;
    arcs.push(value);
    value = 0;
  }
  const head = arcs[0] ?? 0;
  const top = Math.min(2, Math.floor(head / 40));
  return [top, head - top * 40, ...arcs.slice(1)].join('.');
}

/** Text in any of the string types of names; undefined for other types. */
export function derText(node: DerNode): string | undefined {
  switch (node.tag) {
    case DER.utf8String:
    case DER.printableString:
    case DER.ia5String:
    case DER.numericString:
      return node.content.toString('utf8');
    case DER.t61String:
      return node.content.toString('latin1');
    case DER.bmpString:
      return Buffer.from(node.content.subarray(0, node.content.length & ~1))
        .swap16()
        .toString('utf16le');
    default:
      return undefined;
  }
}

/** Milliseconds since the epoch of a UTCTime or GeneralizedTime. */
export function derTime(node: DerNode): number {
  const text = node.content.toString('latin1');
  const long = node.tag === DER.generalizedTime;
  const match = (long ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/).exec(
    text,
  );
  if (match === null) throw new DerError('malformed time');
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  // Two-digit years mean 1950 to 2049.
  const fullYear = long ? year : year >= 50 ? 1900 + year : 2000 + year;
  return Date.UTC(fullYear, month - 1, day, hour, minute, second);
}

// The items of a list in protobuf, from the bytes that are kept of each object.
import type { ResponseBody } from '../../lib/http/http.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { StoredObject } from '../../storage/store.js';
import { largeBody, MAX_AT_ONCE_BYTES } from './large-body.js';
import { type Around, bodyInPieces, JoinedLists, type ListItems } from './list-body.js';
import type { ProtobufForm } from './protobuf-form.js';

const PIECE_BYTES = 256 * 1024;

export interface ProtobufItems {
  /** Of all items. */
  readonly bytes: number;
  body(around: Around): ResponseBody;
}

const joinedLists = new JoinedLists<JoinedItems>();

// hot: every list in protobuf
/** If they are joined already. */
export const joinedItems = (form: ProtobufForm, items: readonly StoredObject[]): ProtobufItems | undefined =>
  joinedLists.get(items, form);

/** Encodes what is not encoded yet, and yields to the event loop meanwhile. */
export async function protobufItems(form: ProtobufForm, items: readonly StoredObject[]): Promise<ProtobufItems> {
  const yielder = new Yielder();
  const elements: Buffer[] = [];
  let bytes = 0;
  for (const item of items) {
    const element = form.element(item);
    elements.push(element);
    bytes += element.length;
    if (yielder.isDue) await yielder.yieldIfDue();
  }
  if (bytes > MAX_AT_ONCE_BYTES || !joinedLists.isWorthJoining(items, form, bytes)) {
    return new SingleItems(elements, bytes);
  }
  return joinedLists.keep(items, form, new JoinedItems(await joinedPieces(elements), bytes));
}

class JoinedItems implements ProtobufItems {
  constructor(
    private readonly pieces: readonly Buffer[],
    readonly bytes: number,
  ) {}

  body({ head, tail }: Around): ResponseBody {
    return largeBody([head, ...this.pieces, tail], head.length + this.bytes + tail.length);
  }
}

class SingleItems implements ProtobufItems, ListItems {
  constructor(
    private readonly elements: readonly Buffer[],
    readonly bytes: number,
  ) {}

  get count(): number {
    return this.elements.length;
  }

  bytesOf(index: number): number {
    return (this.elements[index] as Buffer).length;
  }

  // hot: every item of a list in protobuf
  put(index: number, out: Buffer, start: number): number {
    return start + (this.elements[index] as Buffer).copy(out, start);
  }

  body(around: Around): ResponseBody {
    return bodyInPieces(this, around);
  }
}

async function joinedPieces(elements: readonly Buffer[]): Promise<Buffer[]> {
  const yielder = new Yielder();
  const pieces: Buffer[] = [];
  let from = 0;
  let pieceBytes = 0;
  for (let at = 0; at < elements.length; at++) {
    pieceBytes += (elements[at] as Buffer).length;
    if (pieceBytes < PIECE_BYTES && at < elements.length - 1) continue;
    pieces.push(Buffer.concat(elements.slice(from, at + 1), pieceBytes));
    from = at + 1;
    pieceBytes = 0;
    if (yielder.isDue) await yielder.yieldIfDue();
  }
  return pieces;
}

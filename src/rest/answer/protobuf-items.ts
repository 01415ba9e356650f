// The items of a list in protobuf, from the bytes that are kept of each object.
import type { ResponseBody } from '../../lib/http/http.js';
import { Yielder } from '../../lib/scheduling/yield.js';
import type { StoredObject } from '../../storage/store.js';
import { largeBody } from './large-body.js';
import { type Around, bodyInPieces, type ListItems } from './list-body.js';
import type { ProtobufForm } from './protobuf-form.js';

/** Lists of this size are kept joined for the next request. */
const MAX_JOINED_BYTES = 4 * 1024 * 1024;
/** What is smaller is joined for the first request. */
const SMALL_BYTES = 32 * 1024;
const PIECE_BYTES = 256 * 1024;

export interface ProtobufItems {
  /** Of all items. */
  readonly bytes: number;
  body(around: Around): ResponseBody;
}

/** By the array of items, which the store hands out again while nothing has changed; undefined after the first request. */
const joinedLists = new WeakMap<readonly StoredObject[], Map<ProtobufForm, JoinedItems | undefined>>();

// hot: every list in protobuf
/** If they are joined already. */
export const joinedItems = (form: ProtobufForm, items: readonly StoredObject[]): ProtobufItems | undefined =>
  joinedLists.get(items)?.get(form);

/**
 * Encodes what is not encoded yet, and yields to the event loop meanwhile. A list that is asked for a second time is joined
 * and kept: where objects change all the time nobody asks for the same list again, and one that is copied piece by piece
 * as it is sent leaves no memory behind.
 */
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
  const forms = joinedLists.get(items) ?? new Map<ProtobufForm, JoinedItems | undefined>();
  joinedLists.set(items, forms);
  const isJoined = bytes <= SMALL_BYTES || (bytes <= MAX_JOINED_BYTES && forms.has(form));
  const joined = isJoined ? new JoinedItems(await joinedPieces(elements), bytes) : undefined;
  forms.set(form, joined);
  return joined ?? new SingleItems(elements, bytes);
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

// A long list, or a table of many rows, encoded element by element cooperatively.
import { Yielder } from '../../lib/scheduling/yield.js';
import { cborListParts, encodeCbor, encodeCborTree, withoutMark } from '../../schema/cbor/encode.js';
import { encodeJson, encodeTree } from '../../schema/json/encode.js';
import { protobufElement, protobufListParts } from '../../schema/protobuf/envelope.js';
import type { StructType } from '../../schema/type.js';
import type { MaybePromise } from '../../lib/async/maybe-promise.js';

export interface ListShape {
  readonly type: StructType;
  /** All of it but its elements. */
  readonly envelope: { readonly kind: string; readonly apiVersion: string };
  /** Where they stand. */
  readonly member: 'items' | 'rows';
}

export interface LongList extends ListShape {
  readonly count: number;
  /** A buffer where it is encoded already. */
  readonly element: (index: number) => MaybePromise<object | Buffer>;
}

export type ElementEncoding = 'json' | 'protobuf' | 'cbor';

/** In pieces that may be written one after another. */
export async function encodeLongList(list: LongList, encoding: ElementEncoding): Promise<Buffer[]> {
  const form = FORMS[encoding](list);
  const elements = await encodedElements(list, form);
  const bytes = elements.reduce((sum, { length }) => sum + length, 0);
  const { head, tail } = form.around(bytes);
  return [head, ...elements, tail];
}

/** One element, as it stands in such a list. */
export const encodeElement = (shape: ListShape, encoding: ElementEncoding, value: object): Buffer =>
  FORMS[encoding]({ ...shape, count: 1 }).element(value);

interface Form {
  readonly element: (value: object) => Buffer;
  readonly between?: Buffer;
  readonly around: (elementBytes: number) => { head: Buffer; tail: Buffer };
}

type Counted = Omit<LongList, 'element'>;

const FORMS: Readonly<Record<ElementEncoding, (list: Counted) => Form>> = {
  json(list) {
    const { type, member } = list;
    const [head, tail] = cut(encodeJson(type, emptyOf(list)), `"${member}":[`);
    const of = elementOf(list);
    return {
      element: (value) => Buffer.from(of === undefined ? encodeTree(value) : encodeJson(of.type, value)),
      between: Buffer.from(','),
      around: () => ({ head: Buffer.from(head), tail: Buffer.from(`${tail}\n`) }),
    };
  },
  protobuf(list) {
    const of = elementOf(list);
    if (of === undefined) throw new Error('only built-in types have a protobuf form');
    return {
      element: (value) => protobufElement(of.type, value, of.proto),
      around: (bytes) => protobufListParts(list.type, emptyOf(list), bytes),
    };
  },
  cbor(list) {
    const { type, member, count } = list;
    const of = elementOf(list);
    const empty = of === undefined ? encodeCborTree(emptyOf(list)) : encodeCbor(type, emptyOf(list));
    return {
      element: (value) => withoutMark(of === undefined ? encodeCborTree(value) : encodeCbor(of.type, value)),
      around: () => cborListParts(empty, member, count),
    };
  },
};

const emptyOf = ({ envelope, member }: ListShape): ListShape['envelope'] => ({ ...envelope, [member]: [] });

function cut(text: string, after: string): [string, string] {
  const at = text.indexOf(after) + after.length;
  return [text.slice(0, at), text.slice(at)];
}

/** The type of the elements, and the number of their field; custom resources are encoded without. */
function elementOf({ type, member }: ListShape): { type: StructType; proto: number } | undefined {
  const field = type.byJson.get(member);
  if (field?.type.kind !== 'list' || field.type.element.kind !== 'struct') return undefined;
  return { type: field.type.element, proto: field.proto };
}

/** Joined to pieces of this size, for there may be a hundred thousand. */
const PIECE_BYTES = 256 * 1024;

async function encodedElements({ count, element }: LongList, form: Form): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  const yielder = new Yielder();
  let some: Buffer[] = [];
  let bytes = 0;
  for (let i = 0; i < count; i++) {
    const value = element(i);
    const known = value instanceof Promise ? await value : value;
    const encoded = Buffer.isBuffer(known) ? known : form.element(known);
    if (i > 0 && form.between !== undefined) some.push(form.between);
    some.push(encoded);
    bytes += encoded.length;
    if (bytes > PIECE_BYTES || i === count - 1) {
      pieces.push(Buffer.concat(some));
      some = [];
      bytes = 0;
    }
    await yielder.yieldIfDue();
  }
  return pieces;
}

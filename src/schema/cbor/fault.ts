// What is wrong with an item, as a value: a reader goes on after the first, for some that come later count for more.
import { goQuote } from '../../lib/go/quote.js';
import { SORTS } from './cursor.js';

export class Fault {
  constructor(
    readonly text: string,
    /** The first of all: whoever ignores unknown fields reads on without it. */
    readonly isUnknownField = false,
  ) {}

  /** The fault as reported of the field that holds the item. */
  inField(_struct: string, _field: string): Fault {
    return this;
  }
}

/** An item of a sort that its type does not have. It is reported of the outermost field that holds it. */
class WrongSort extends Fault {
  constructor(
    readonly sort: string,
    readonly goType: string,
    readonly why: string | undefined,
    into = `value of type ${goType}`,
  ) {
    super(`cbor: cannot unmarshal ${sort} into Go ${into}${why === undefined ? '' : ` (${why})`}`);
  }

  override inField(struct: string, field: string): Fault {
    const { sort, goType, why } = this;
    return new WrongSort(sort, goType, why, `struct field ${struct}.${field} of type ${goType}`);
  }
}

export const wrongSort = (major: number, goType: string, why?: string): Fault =>
  new WrongSort(SORTS[major] ?? '', goType, why);

export const refused = (why: string): Fault => new Fault(`cbor: ${why}`);

export const duplicateKey = (key: unknown, index: number): Fault =>
  refused(
    `found duplicate map key ${typeof key === 'string' ? goQuote(key) : String(key)} at map element index ${index}`,
  );

export const unknownField = (index: number): Fault =>
  new Fault(`cbor: found unknown field at map element index ${index}`, true);

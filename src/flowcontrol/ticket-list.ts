// Tickets in the order they came. Each knows its neighbours, so that one leaves from anywhere without a search.

/** What a ticket carries for the list it is in; in one list at a time. */
export interface Linked<T> {
  before: T | undefined;
  after: T | undefined;
  list: object | undefined;
}

export class TicketList<T extends Linked<T>> implements Iterable<T> {
  first: T | undefined = undefined;
  #last: T | undefined = undefined;
  size = 0;

  // hot: every request
  add(ticket: T): void {
    ticket.list = this;
    ticket.before = this.#last;
    ticket.after = undefined;
    if (this.#last === undefined) this.first = ticket;
    else this.#last.after = ticket;
    this.#last = ticket;
    this.size++;
  }

  // hot: every request
  /** False when it is not here. */
  delete(ticket: T): boolean {
    if (ticket.list !== this) return false;
    const { before, after } = ticket;
    if (before === undefined) this.first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    ticket.list = ticket.before = ticket.after = undefined;
    this.size--;
    return true;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let ticket = this.first; ticket !== undefined; ticket = ticket.after) yield ticket;
  }
}

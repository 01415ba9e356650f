// A request on its way through a priority level, and the line it stands in.
import { type Linked, TicketList } from './ticket-list.js';

/** How long a request takes, before that is known. */
export const GUESSED_MS = 3;

/** What a request will cost. */
export interface WorkEstimate {
  readonly initialSeats: number;
  /** Held on for `lingerMs` after the answer, while watchers receive its change. */
  readonly finalSeats: number;
  readonly lingerMs: number;
}

export interface TicketParts<T> {
  /** The name of the flow schema. */
  readonly schema: string;
  /** Which flow of the schema it belongs to. */
  readonly distinguisher: string;
  readonly estimate: WorkEstimate;
  /** What the ticket is for: shown in dumps. */
  readonly subject: T;
  /** Called when a ticket that had to wait gets its seats. */
  readonly start: () => void;
}

export class Ticket<T> implements Linked<Ticket<T>> {
  before: Ticket<T> | undefined = undefined;
  after: Ticket<T> | undefined = undefined;
  list: object | undefined = undefined;
  arrivedMs = 0;
  startedMs: number | undefined = undefined;
  queue: Queue<T> | undefined = undefined;
  arrivalR = 0;
  readonly schema: string;
  readonly distinguisher: string;
  readonly estimate: WorkEstimate;
  readonly subject: T;
  readonly start: () => void;
  readonly seats: number;
  finalSeats: number;
  lingerMs: number;
  /** Seat-milliseconds, by the guess. */
  readonly work: number;

  constructor({ schema, distinguisher, estimate, subject, start }: TicketParts<T>) {
    this.schema = schema;
    this.distinguisher = distinguisher;
    this.estimate = estimate;
    this.subject = subject;
    this.start = start;
    this.seats = Math.max(estimate.initialSeats, estimate.finalSeats);
    this.finalSeats = estimate.finalSeats;
    this.lingerMs = estimate.lingerMs;
    this.work = estimate.initialSeats * GUESSED_MS + estimate.finalSeats * estimate.lingerMs;
  }
}

export interface Queue<T> {
  index: number;
  readonly waiting: TicketList<Ticket<T>>;
  readonly executing: TicketList<Ticket<T>>;
  seatsInUse: number;
  waitingInitialSeats: number;
  waitingSeats: number;
  waitingWork: number;
  nextStart: number;
}

export const headOf = <T>(queue: Queue<T>): Ticket<T> | undefined => queue.waiting.first;

export const newQueue = <T>(index: number): Queue<T> => ({
  index,
  waiting: new TicketList(),
  executing: new TicketList(),
  seatsInUse: 0,
  waitingInitialSeats: 0,
  waitingSeats: 0,
  waitingWork: 0,
  nextStart: 0,
});

// The seats of one limit, such as `--max-requests-inflight` or those of a priority level, as the process sees them that uses
// them.

export interface SeatPool {
  /** How many seats may be in use in this process. */
  readonly share: number;
  /** How many the limit has, in all processes together. */
  setTotal(total: number): void;
  /**
   * Requests seats that other processes do not need, for what the holder wants, and for a request of so many seats that is
   * refused otherwise. Fulfilled when that is decided; undefined where there is nothing to be had now.
   */
  requestMore(seats?: number): Promise<void> | undefined;
  /** The limit is gone. */
  close(): void;
}

/** Whoever gives the seats to requests. */
export interface SeatHolder {
  readonly seatsInUse: number;
  /** Those in use, and those that requests wait for. */
  readonly seatsWanted: number;
  /** The share has changed. */
  resized(): void;
}

export type OpenSeatPool = (name: string, holder: SeatHolder) => SeatPool;

/** For a server of one process. */
export const ownSeats: OpenSeatPool = () => new OwnSeats();

class OwnSeats implements SeatPool {
  share = 0;

  setTotal(total: number): void {
    this.share = total;
  }

  requestMore(): undefined {
    return undefined;
  }

  close(): void {}
}

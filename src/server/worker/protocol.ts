// The messages between the server and its worker thread.

/** What the thread is asked. */
export interface WorkerRequest {
  readonly id: number;
  readonly task: string;
  readonly work: object;
  readonly deadlineMs?: number | undefined;
  /** What it has to know, by its id; the rest where it said that it does not. */
  readonly needs?: { readonly id: string; readonly json?: Uint8Array } | undefined;
}

/** With the id 0 that the thread is up. */
export interface WorkerResponse {
  readonly id: number;
  readonly answer?: object;
  /** `here`: it must be done where it was asked. `unknown`: it is to be asked again, with what it needs. */
  readonly without?: 'here' | 'unknown' | 'late';
  readonly failed?: string;
  readonly compilations?: readonly number[];
  readonly evaluations?: readonly number[];
}

// The ping by which gRPC for Go measures the bandwidth. It sends one with the first data that comes when none is under
// way, so one that is answered at once is followed by another for nearly every call, and each costs both ends a turn of
// the event loop and a write. When it is answered later, it counts the bytes of all calls until then; the server's window
// only grows by it.
//
//   at once    call · ping · answer · call · ping · answer · call …
//   later      call · ping · call · call · call · answer · call · ping …
export const BANDWIDTH_PING = Buffer.from([2, 4, 16, 16, 9, 14, 7, 7]);
/** A window that is too small for a long way is not to stay so for long. */
export const BANDWIDTH_ANSWER_MS = 250;

export const isBandwidthPing = (bytes: Buffer, start: number): boolean =>
  BANDWIDTH_PING.compare(bytes, start, start + BANDWIDTH_PING.length) === 0;

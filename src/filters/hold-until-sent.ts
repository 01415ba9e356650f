// An answer that is there and large is under way until its client has taken it: till then it has its seats, and its time.
// Who asks for the same again and again and reads nothing would otherwise have the server keep all of it.
import { bodyPieces, type ResponseStream, type WholeBody } from '../lib/http/http.js';

/** What is smaller goes out with its head, and is over. */
export const MAX_UNHELD_BYTES = 32 * 1024;

export function holdUntilSent(body: WholeBody): ResponseStream {
  return {
    async stream(sink) {
      let taken = true;
      for (const piece of bodyPieces(body)) taken = sink.write(piece);
      sink.last?.();
      if (!taken) await sink.drained();
    },
  };
}

// A large answer is under way until its client has read it: till then it holds its seats, and its timeout runs.
// A client that repeats a request and reads nothing would otherwise make the server buffer every answer.
import { bodyPieces, type ResponseStream, type WholeBody } from '../lib/http/http.js';

/** What is smaller goes out with its head, and is over. */
export const MAX_UNHELD_BYTES = 32 * 1024;

export function holdUntilSent(body: WholeBody): ResponseStream {
  return {
    async stream(sink) {
      let accepted = true;
      for (const piece of bodyPieces(body)) accepted = sink.write(piece);
      sink.last?.();
      if (!accepted) await sink.drained();
    },
  };
}

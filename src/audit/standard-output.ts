import type { LineWriter } from './log-backend.js';

/** `--audit-log-path=-` */
export function standardOutput(stream: NodeJS.WriteStream): LineWriter {
  // Who reads the output may go away: then lines are lost, and counted, and the server goes on.
  stream.on('error', () => undefined);
  return {
    write: ({ bytes, ends }) =>
      new Promise((resolve) => stream.write(bytes, (error) => resolve(error ? ends.map(() => error) : undefined))),
    close: () => Promise.resolve(),
  };
}

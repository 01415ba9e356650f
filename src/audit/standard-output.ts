import type { LineWriter } from './log-backend.js';

/** `--audit-log-path=-` */
export function standardOutput(stream: NodeJS.WriteStream): LineWriter {
  // Who reads the output may go away: then lines are lost, and counted, and the server goes on.
  stream.on('error', () => undefined);
  const writeLine = (line: Buffer): Promise<Error | undefined> =>
    new Promise((resolve) => stream.write(line, (error) => resolve(error ?? undefined)));
  return {
    async write(lines) {
      const failures = await Promise.all(lines.map(writeLine));
      return failures.some((failure) => failure !== undefined) ? failures : undefined;
    },
    close: () => Promise.resolve(),
  };
}

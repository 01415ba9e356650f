import type { Readable } from 'node:stream';

export interface PeekedStream {
  readonly bytes: Buffer;
  /** There is no more: the source is used up. Otherwise the bytes can be read from it again. */
  readonly isWhole: boolean;
}

/** What a source gives within some time, until that is `enoughBytes` or all. Rejects when the source breaks off. */
export function peekStream(source: Readable, enoughBytes: number, timeoutMs: number): Promise<PeekedStream> {
  const pieces: Buffer[] = [];
  let length = 0;
  return new Promise((resolve, reject) => {
    const take = (): void => {
      while (length < enoughBytes) {
        const piece = source.read() as Buffer | null;
        if (piece === null) return;
        pieces.push(piece);
        length += piece.length;
      }
      finish(false);
    };
    const leave = (): void => {
      clearTimeout(timer);
      source.off('readable', take).off('end', ended).off('close', cut).off('error', fail);
    };
    const finish = (isWhole: boolean): void => {
      leave();
      const bytes = Buffer.concat(pieces);
      // Synchronously: a source that has nothing more would end before.
      if (!isWhole && length > 0 && !source.destroyed) source.unshift(bytes);
      resolve({ bytes, isWhole });
    };
    const ended = (): void => finish(true);
    const cut = (): void => finish(false);
    const fail = (error: Error): void => {
      leave();
      reject(error);
    };
    const timer = setTimeout(cut, timeoutMs);
    source.on('readable', take).on('end', ended).on('close', cut).on('error', fail);
    if (source.errored !== null) fail(source.errored);
    else if (source.destroyed) cut();
    else if (source.readableEnded) ended();
  });
}

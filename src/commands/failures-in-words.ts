import { KvError } from '../kv/kv.js';
import { goFileError } from '../lib/go/file-error.js';
import { CommandFailure } from './command.js';

/** What a store or a file refuses becomes a sentence. */
export async function failuresInWords<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof KvError) throw new CommandFailure(error.message, { cause: error });
    const { syscall, path } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CommandFailure(goFileError(error, path ?? 'standard output'), { cause: error });
  }
}

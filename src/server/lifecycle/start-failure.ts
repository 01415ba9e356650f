import type { StartupMistake } from '../../options/startup-checks.js';

/** Ends the start of a server, and the process with a certain exit code. */
export class StartFailure extends Error {
  readonly exitCode: number;

  constructor({ error, exitCode }: Pick<StartupMistake, 'error' | 'exitCode'>) {
    super(error);
    this.exitCode = exitCode;
  }
}

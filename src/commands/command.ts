// The contract of a command: `binnacle NAME …`.
import type { Topic } from '../options/flag-table.js';

export interface Command {
  readonly name: string;
  /** One line, for the list of all. */
  readonly summary: string;
  /** What may follow `binnacle`, a line for each form. */
  readonly usage: readonly string[];
  /** What it does, for its help; lines are kept as they are. */
  readonly about: string;
  /** Its flags. */
  readonly topics: readonly Topic[];
  /** Flags that it takes and passes on: completed and hinted at, and not listed in its help. */
  readonly passesOn?: readonly Topic[];
  /** What its first argument can be, for completion. */
  readonly words: readonly string[];
  /** Answers the exit code. Throws a CommandLineMistake for wrong usage and a CommandFailure for all else. */
  run(args: readonly string[], parts: CommandParts): Promise<number>;
}

export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  /** The terminal's width; 0 where output does not go to one. */
  readonly columns: number;
  /** Whether standard error is a terminal, where progress can be shown. */
  readonly showsProgress: boolean;
}

/** What went wrong, in a sentence for whoever typed the command. */
export class CommandFailure extends Error {}

export const EXIT = {
  done: 0,
  failed: 1,
  wrongUsage: 2,
  /** Of `status`: no server has the folder open. */
  notRunning: 3,
} as const;

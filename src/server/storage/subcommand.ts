// What `binnacle NAME …` runs, beside the server.
export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly encodeError: (text: string) => void;
}

/** `args` are those after the name. Answers the exit code. */
export type Subcommand = (args: readonly string[], parts: CommandParts) => Promise<number>;

// What `binnacle NAME …` runs, beside the server.
export interface CommandParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
}

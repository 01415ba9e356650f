// What a log line says, before it is text or JSON.

export type Fields = Readonly<Record<string, unknown>>;

export type Severity = 'I' | 'W' | 'E' | 'F';

export interface LogLine {
  readonly severity: Severity;
  readonly now: Date;
  readonly file: string;
  readonly message: string;
  readonly fields?: Fields | undefined;
  /** Without quotes around the message. */
  readonly plain: boolean;
}

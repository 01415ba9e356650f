// What a table of flags looks like, and the type of the values that follows from it.
import type { FlagType, FlagValue } from './flag-kinds.js';

export type FlagSpec = {
  [T in FlagType]: {
    readonly type: T;
    readonly default?: FlagValue<T>;
    readonly help: string;
    /** A single letter after a single dash. */
    readonly short?: string;
    /** What to say to someone who still uses the flag. */
    readonly deprecated?: string;
    /** Accepted, but not listed in help. */
    readonly hidden?: boolean;
  };
}[FlagType];

export type FlagTable = Readonly<Record<string, FlagSpec>>;

export interface Topic {
  /** The topic's place in the options. */
  readonly key: string;
  readonly title: string;
  readonly flags: FlagTable;
}

export const defineTopic = <const T extends Topic>(topic: T): T => topic;

/** `request-timeout` of type duration is kept as `requestTimeoutMs`; other flags by their name alone. */
export function fieldName(flag: string, type: FlagType): string {
  const name = flag.replace(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return type === 'duration' ? `${name}Ms` : name;
}

type Camel<S extends string> = S extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<Camel<Rest>>}` : S;
type FieldName<N, T> = N extends string ? (T extends 'duration' ? `${Camel<N>}Ms` : Camel<N>) : never;

export type TopicValues<T extends Topic> = {
  -readonly [N in keyof T['flags'] as FieldName<N, T['flags'][N]['type']>]: FlagValue<T['flags'][N]['type']>;
};

export type FlagValues<Topics extends readonly Topic[]> = {
  [T in Topics[number] as T['key']]: TopicValues<T>;
};

export const SECOND_MS = 1000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;

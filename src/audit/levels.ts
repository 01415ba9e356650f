// How much of a request is recorded, and at which moments.

export const LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof LEVELS)[number];

export const STAGES = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof STAGES)[number];

const RANKS: Readonly<Record<Level, number>> = { None: 0, Metadata: 1, Request: 2, RequestResponse: 3 };

export const atLeast = (level: Level, wanted: Level): boolean => RANKS[level] >= RANKS[wanted];

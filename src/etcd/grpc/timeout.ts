const UNITS_MS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000001 };
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;
/** Node's timers have 31 bits. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** What a `grpc-timeout` says, in milliseconds rounded up; undefined where there is none, or none that can be read. */
export function timeoutMsOf(header: string | undefined): number | undefined {
  const [, digits, unit] = TIMEOUT.exec(header ?? '') ?? [];
  if (digits === undefined || unit === undefined) return undefined;
  return Math.min(MAX_TIMEOUT_MS, Math.ceil(Number(digits) * (UNITS_MS[unit] ?? 1)));
}

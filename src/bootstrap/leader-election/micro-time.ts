// Times of leases: RFC 3339 with microseconds, always in UTC.

export const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');

/** Microseconds since the epoch, so that what happened within a millisecond keeps its order. */
export function microseconds(text: string): number {
  const fraction = /\.([0-9]{1,6})/.exec(text)?.[1] ?? '';
  return Date.parse(`${text.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`) * 1000 + Number(fraction.padEnd(6, '0'));
}

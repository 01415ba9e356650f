const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** An age in at most two units, the way tables show it: `45s`, `3m20s`, `5h`, `2d4h`, `3y12d`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE) return `${seconds}s`;
  if (seconds < 10 * MINUTE) return twoUnits(seconds, { large: MINUTE, largeName: 'm', small: 1, smallName: 's' });
  if (seconds < 3 * HOUR) return `${Math.trunc(seconds / MINUTE)}m`;
  if (seconds < 8 * HOUR) return twoUnits(seconds, { large: HOUR, largeName: 'h', small: MINUTE, smallName: 'm' });
  if (seconds < 2 * DAY) return `${Math.trunc(seconds / HOUR)}h`;
  if (seconds < 8 * DAY) return twoUnits(seconds, { large: DAY, largeName: 'd', small: HOUR, smallName: 'h' });
  if (seconds < 2 * YEAR) return `${Math.trunc(seconds / DAY)}d`;
  if (seconds < 8 * YEAR) return twoUnits(seconds, { large: YEAR, largeName: 'y', small: DAY, smallName: 'd' });
  return `${Math.trunc(seconds / YEAR)}y`;
}

interface Units {
  readonly large: number;
  readonly largeName: string;
  readonly small: number;
  readonly smallName: string;
}

function twoUnits(seconds: number, { large, largeName, small, smallName }: Units): string {
  const rest = Math.trunc((seconds % large) / small);
  const head = `${Math.trunc(seconds / large)}${largeName}`;
  return rest === 0 ? head : `${head}${rest}${smallName}`;
}

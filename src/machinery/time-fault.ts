// Why a text is no time, in the words of kube-apiserver's reader: it goes through the text part by part, and clients
// see where it stopped.

const SECONDS = '2006-01-02T15:04:05Z07:00';
const MICROSECONDS = '2006-01-02T15:04:05.000000Z07:00';

/** A number of two digits and what stands before it. */
interface NumberPart {
  readonly before: string;
  readonly layout: string;
  readonly name: string;
  readonly below: number;
}

const NUMBERS: readonly NumberPart[] = [
  { before: '-', layout: '01', name: 'month', below: 13 },
  { before: '-', layout: '02', name: '', below: 100 },
  { before: 'T', layout: '15', name: 'hour', below: 24 },
  { before: ':', layout: '04', name: 'minute', below: 60 },
  { before: ':', layout: '05', name: 'second', below: 60 },
];

/** Of a text that is no time, or no time to the microsecond. */
export function timeFault(text: string, micro: boolean): string {
  // A letter for each byte, for that is how kube-apiserver counts and shows them.
  const bytes = Buffer.from(text).toString('latin1');
  const layout = micro ? MICROSECONDS : SECONDS;
  const wrong = (rest: string, part: string): string =>
    `parsing time ${quoted(bytes)} as ${quoted(layout)}: cannot parse ${quoted(rest)} as ${quoted(part)}`;
  const outOfRange = (name: string): string => `parsing time ${quoted(bytes)}: ${name} out of range`;
  if (!/^\d{4}/.test(bytes)) return wrong(bytes, '2006');
  let rest = bytes.slice(4);
  for (const { before, layout: part, name, below } of NUMBERS) {
    if (!rest.startsWith(before)) return wrong(rest, before);
    rest = rest.slice(before.length);
    if (!/^\d\d/.test(rest)) return wrong(rest, part);
    const value = Number(rest.slice(0, 2));
    rest = rest.slice(2);
    if (value >= below || (name === 'month' && value === 0)) return outOfRange(name);
  }
  if (micro && !/^[.,]\d{6}/.test(rest)) return wrong(rest, '.000000');
  rest = rest.slice(micro ? '.000000'.length : (/^[.,]\d+/.exec(rest)?.[0].length ?? 0));
  const zone = /^(?:Z|[-+](\d\d):(\d\d))/.exec(rest);
  if (zone === null) return wrong(rest, 'Z07:00');
  if (Number(zone[1] ?? 0) > 24) return outOfRange('time zone offset hour');
  if (Number(zone[2] ?? 0) >= 60) return outOfRange('time zone offset minute');
  rest = rest.slice(zone[0].length);
  return rest === '' ? outOfRange('day') : `parsing time ${quoted(bytes)}: extra text: ${quoted(rest)}`;
}

const quoted = (bytes: string): string =>
  `"${bytes.replace(/["\\]/g, '\\$&').replace(/[^ -\x7f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)}"`;

// Keys of a block mapping begin their line, all but the first. Our parser reads what follows a quoted item of a list as
// the next key of the mapping around the list: `- 'a'b: c`.
import { COLLECTION_STYLE, EVENT_ID, type Event } from 'js-yaml';

interface Frame {
  /** Of a mapping, how many keys and values have begun; undefined in all else. */
  nodes: number | undefined;
}

/** Where the first key stands that does not begin its line; undefined when all do. */
export function misplacedKey(source: string, events: readonly Event[]): number | undefined {
  const frames: Frame[] = [];
  for (const event of events) {
    if (event.type === EVENT_ID.POP) {
      frames.pop();
      continue;
    }
    const frame = frames.at(-1);
    if (frame?.nodes !== undefined) {
      const isLaterKey = frame.nodes > 0 && frame.nodes % 2 === 0;
      frame.nodes += 1;
      const start = isLaterKey ? startOf(source, event) : undefined;
      if (start !== undefined && !beginsLine(source, start)) return start;
    }
    switch (event.type) {
      case EVENT_ID.MAPPING:
        frames.push({ nodes: event.style === COLLECTION_STYLE.BLOCK ? 0 : undefined });
        break;
      case EVENT_ID.SEQUENCE:
      case EVENT_ID.DOCUMENT:
        frames.push({ nodes: undefined });
        break;
      default:
    }
  }
  return undefined;
}

/** Of a scalar or an alias, with what is said of it before. */
function startOf(source: string, event: Event): number | undefined {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type !== EVENT_ID.SCALAR) return undefined;
  const quote = source[event.valueStart - 1];
  const value = quote === '"' || quote === "'" ? event.valueStart - 1 : event.valueStart;
  const anchor = event.anchorStart < 0 ? value : event.anchorStart - 1;
  return Math.min(value, anchor, event.tagStart < 0 ? value : event.tagStart);
}

/** Nothing but space is before it, or the mark of a key that may be anything. */
function beginsLine(source: string, start: number): boolean {
  let at = start - 1;
  while (source[at] === ' ' || source[at] === '\t') at--;
  const before = source[at];
  return before === undefined || LINE_ENDS.has(before) || before === '?';
}

const LINE_ENDS: ReadonlySet<string> = new Set(['\n', '\r', '\u2028', '\u2029', '\ufeff']);

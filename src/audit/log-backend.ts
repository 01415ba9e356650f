// Events as lines, in a file or on standard output.
import type { AuditBackend, OnLost } from './backend.js';
import type { AuditEvent } from './event.js';
import type { EventQueue } from './event-queue.js';
import { legacyLine } from './legacy-line.js';
import { type LineBlock, LineBlockBuilder } from './line-block.js';
import { encodeLines } from './encode-line.js';

/** Where lines are written. Returns why each line could not be written, in order; undefined when all are written. */
export interface LineWriter {
  write(block: LineBlock): Promise<readonly (Error | undefined)[] | undefined>;
  close(): Promise<void>;
}

export type LogFormat = 'json' | 'legacy';

export interface Log {
  readonly writer: LineWriter;
  readonly format: LogFormat;
  readonly onLost: OnLost;
}

export function createLogBackend(log: Log): AuditBackend {
  const lines = new LineBlockBuilder();
  const encode = lineEncoderOf(log);
  return {
    isWaitedFor: true,
    process(events) {
      encode(events, lines);
      return store(log, events, lines.take(events.length), lines);
    },
    close: () => log.writer.close(),
  };
}

/** Events wait as encoded lines: they are encoded while their objects are in memory. */
export class LogQueue implements EventQueue {
  private readonly lines = new LineBlockBuilder();
  private readonly encode: LineEncoder;
  /** Kept to report them when they are lost. */
  private events: AuditEvent[] = [];

  constructor(private readonly log: Log) {
    this.encode = lineEncoderOf(log);
  }

  get length(): number {
    return this.events.length;
  }

  get bytes(): number {
    return this.lines.totalBytes;
  }

  // hot: once for each request that is recorded.
  add(more: readonly AuditEvent[]): void {
    for (const event of more) this.events.push(event);
    this.encode(more, this.lines);
  }

  take(count: number): () => Promise<boolean> {
    const { log, lines, events } = this;
    const batch = count === events.length ? events : events.slice(0, count);
    this.events = events.slice(count);
    const blocks = lines.take(count);
    return () => store(log, batch, blocks, lines);
  }

  close(): Promise<void> {
    return this.log.writer.close();
  }
}

async function store(
  { writer, onLost }: Log,
  events: readonly AuditEvent[],
  blocks: readonly LineBlock[],
  lines: LineBlockBuilder,
): Promise<boolean> {
  const failures = await Promise.all(blocks.map((block) => writer.write(block)));
  for (const block of blocks) lines.giveBack(block);
  if (failures.every((ofBlock) => ofBlock === undefined)) return true;
  let index = 0;
  for (const [i, { ends }] of blocks.entries()) {
    for (const line of ends.keys()) {
      const event = events[index++];
      const failure = failures[i]?.[line];
      if (event !== undefined && failure !== undefined) onLost('log', failure, [event]);
    }
  }
  return false;
}

type LineEncoder = (events: readonly AuditEvent[], lines: LineBlockBuilder) => void;

function lineEncoderOf({ format }: Log): LineEncoder {
  return format === 'json' ? encodeLines : encodeLegacyLines;
}

function encodeLegacyLines(events: readonly AuditEvent[], lines: LineBlockBuilder): void {
  for (const event of events) {
    lines.add(`${legacyLine(event)}\n`);
    lines.endLine();
  }
}

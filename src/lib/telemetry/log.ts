// Logs in klog's text format, gathered and written in batches.
//
//   I1115 02:17:13.123456   12345 listener.ts] "HTTP" verb="GET" URI="/healthz" resp=200
//
// The severity, month and day, local time, process id and source file come first. A bundle has no source lines at run
// time, so none is logged; the file is what --vmodule goes by.
import fs from 'node:fs';
import { errorText } from '../text/error-text.js';
import { goQuote } from '../go/quote.js';
import { jsonLine } from './log-json.js';
import type { Fields, Severity, LogLine } from './log-line.js';

/** What everything that logs is given: it chooses the severity of each of its lines, and how verbose a log must be for it. */
export interface Logger {
  info(message: string, fields?: Fields): void;
  warning(message: string, fields?: Fields): void;
  /** `error` may be anything thrown; the stack is logged for what is not an expected kind of error. */
  error(error: unknown, message: string, fields?: Fields): void;
  /** A line of plain words, without quotes around it. */
  plain(message: string): void;
  /** `undefined` when lines of this verbosity are not wanted, so that their fields are never built. */
  v(level: number): Logger | undefined;
}

export interface LogOptions {
  /** `-v` */
  readonly verbosity: number;
  /** `--vmodule`: file patterns with their own verbosity. */
  readonly modules?: readonly { readonly pattern: string; readonly verbosity: number }[];
  /** `--log-flush-frequency`, for info lines when they are buffered. */
  readonly flushFrequencyMs?: number;
  /** `--log-text-split-stream`: errors to standard error, all else to standard output. */
  readonly splitStream?: boolean;
  /** `--log-text-info-buffer-size`; with 0, lines are written at the end of the event loop iteration. */
  readonly infoBufferBytes?: number;
  /** `--logging-format`: a line of words, or a JSON object for each. */
  readonly format?: 'text' | 'json';
  /** Other processes write to the same place: only whole lines are written at a time. */
  readonly wholeLines?: boolean;
  readonly write?: (descriptor: 1 | 2, text: string) => void;
  readonly now?: () => Date;
}

export interface Logs {
  /** A logger for one source file, named without its extension: `logs.for('listener')`. */
  for(file: string): Logger;
  /** `-v`, from now on. Files that `--vmodule` names have their own. */
  setVerbosity(verbosity: number): void;
  /** Writes what is gathered, before the process ends. */
  flush(): void;
}

export function createLogs(options: LogOptions): Logs {
  const sink = new Sink(options);
  const loggers = new Map<string, Logger>();
  const common: CommonVerbosity = { verbosity: options.verbosity };
  return {
    for(file) {
      let logger = loggers.get(file);
      if (logger === undefined) {
        logger = new FileLogger(file, {
          sink,
          settings: options.modules?.find(({ pattern }) => globMatch(file, pattern)) ?? common,
          now: options.now ?? (() => new Date()),
          format: options.format === 'json' ? jsonLine : textLine,
        });
        loggers.set(file, logger);
      }
      return logger;
    },
    setVerbosity: (verbosity) => void (common.verbosity = verbosity),
    flush: () => sink.flush(),
  };
}

/** Of all files without one of their own. */
interface CommonVerbosity {
  verbosity: number;
}

/** `*` is any text, `?` any character. Only the last star is ever tried again, one character further. */
function globMatch(text: string, pattern: string): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    if (pattern[next] === '*') {
      star = next++;
      starAt = at;
    } else if (pattern[next] === '?' || pattern[next] === text[at]) {
      next++;
      at++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (pattern[next] === '*') next++;
  return next === pattern.length;
}

interface LineWriter {
  readonly sink: Sink;
  /** Lines above its verbosity are not written. */
  readonly settings: Readonly<CommonVerbosity>;
  readonly now: () => Date;
  readonly format: typeof textLine;
}

class FileLogger implements Logger {
  constructor(
    private readonly file: string,
    private readonly writer: LineWriter,
  ) {}

  info(message: string, fields?: Fields): void {
    this.line('I', message, fields);
  }

  warning(message: string, fields?: Fields): void {
    this.line('W', message, fields);
  }

  error(error: unknown, message: string, fields?: Fields): void {
    if (error === undefined || error === null) this.line('E', message, fields);
    else this.line('E', message, { err: errorText(error), ...fields });
    if (error instanceof Error && UNEXPECTED.has(error.name) && error.stack !== undefined) {
      this.writer.sink.write('E', `${error.stack}\n`);
    }
  }

  plain(message: string): void {
    this.line('I', message, undefined, true);
  }

  v(level: number): Logger | undefined {
    return level <= this.writer.settings.verbosity ? this : undefined;
  }

  private line(severity: Severity, message: string, fields: Fields | undefined, plain = false): void {
    const { sink, now, format } = this.writer;
    const text = format({ severity, now: now(), file: this.file, message, fields, plain });
    sink.write(severity, `${text}\n`);
  }
}

function textLine({ severity, now, file, message, fields = {}, plain }: LogLine): string {
  let text = header(severity, now, file) + (plain ? message : goQuote(message));
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined) text += ` ${key}=${formatValue(value)}`;
  }
  return text;
}

const UNEXPECTED: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError', 'AssertionError']);

function formatValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return goQuote(value);
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value);
    default:
      return value instanceof Error ? goQuote(value.message) : JSON.stringify(value);
  }
}

const PID = String(process.pid).padStart(7);
const two = (n: number): string => (n < 10 ? `0${n}` : String(n));

function header(severity: Severity, now: Date, file: string): string {
  const micros = String(now.getMilliseconds()).padStart(3, '0');
  const time = `${two(now.getHours())}:${two(now.getMinutes())}:${two(now.getSeconds())}.${micros}000`;
  return `${severity}${two(now.getMonth() + 1)}${two(now.getDate())} ${time} ${PID} ${file}.ts] `;
}

/** Lines waiting to be written. Unbuffered lines wait only for the end of the event loop iteration. */
const MAX_WAITING_BYTES = 64 * 1024;

class Sink {
  private readonly waiting = { 1: '', 2: '' };
  private scheduled = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: LogOptions) {}

  write(severity: Severity, text: string): void {
    const isError = severity === 'E' || severity === 'F';
    const descriptor = this.options.splitStream === true && !isError ? 1 : 2;
    this.waiting[descriptor] += text;
    const bufferBytes = descriptor === 1 ? (this.options.infoBufferBytes ?? 0) : 0;
    if (this.waiting[descriptor].length > Math.max(bufferBytes, MAX_WAITING_BYTES)) this.flush();
    else if (bufferBytes > 0 && this.waiting[descriptor].length < bufferBytes) this.flushLater();
    else this.flushSoon();
  }

  flush(): void {
    this.scheduled = false;
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const descriptor of [1, 2] as const) {
      const text = this.waiting[descriptor];
      if (text === '') continue;
      this.waiting[descriptor] = '';
      const write = this.options.write ?? writeAll;
      if (this.options.wholeLines === true) for (const lines of atomicParts(text)) write(descriptor, lines);
      else write(descriptor, text);
    }
  }

  private flushSoon(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    setImmediate(() => this.flush());
  }

  private flushLater(): void {
    this.timer ??= setTimeout(() => this.flush(), this.options.flushFrequencyMs ?? 5000).unref();
  }
}

/** What a pipe takes as a whole, or not at all. */
const MAX_ATOMIC_BYTES = 4096;

/** Lines together as long as a pipe keeps them together; a longer line alone. */
function* atomicParts(text: string): Generator<string> {
  let start = 0;
  let end = 0;
  while (end < text.length) {
    const next = text.indexOf('\n', end) + 1 || text.length;
    if (end > start && Buffer.byteLength(text.slice(start, next)) > MAX_ATOMIC_BYTES) {
      yield text.slice(start, end);
      start = end;
    }
    end = next;
  }
  if (end > start) yield text.slice(start, end);
}

/** Writes at once, so that the last lines before the end of the process are not lost. */
function writeAll(descriptor: 1 | 2, text: string): void {
  let bytes = Buffer.from(text, 'utf8');
  for (let attempts = 0; bytes.length > 0 && attempts < 1000; attempts++) {
    try {
      bytes = bytes.subarray(fs.writeSync(descriptor, bytes));
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      // A pipe whose reader is slow refuses for a moment; one without a reader, for good.
      if (code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}

// V8's profiles in pprof's format (a gzipped protobuf), so that the platform's own tools open them.
import type { HeapProfiler, Profiler } from 'node:inspector';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

interface Frame {
  readonly name: string;
  readonly file: string;
  readonly line: number;
}

interface Sample {
  /** Innermost frame first. */
  readonly stack: readonly Frame[];
  readonly values: readonly number[];
}

interface Profile {
  readonly types: readonly (readonly [type: string, unit: string])[];
  readonly samples: readonly Sample[];
  readonly period: number;
  readonly startedMs: number;
  readonly durationNs: number;
}

export function cpuProfile(profile: Profiler.Profile, startedMs: number, intervalUs: number): Promise<Buffer> {
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const spent = new Map<number, { count: number; us: number }>();
  const { samples = [], timeDeltas = [] } = profile;
  samples.forEach((id, i) => {
    const entry = spent.get(id) ?? { count: 0, us: 0 };
    entry.count++;
    entry.us += Math.max(timeDeltas[i + 1] ?? intervalUs, 0);
    spent.set(id, entry);
  });
  const list: Sample[] = [];
  for (const [id, { count, us }] of spent) {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (frame !== undefined && frame.functionName !== '(root)') stack.push(frameOf(frame));
    }
    if (stack[0]?.name !== '(idle)') list.push({ stack, values: [count, us * 1000] });
  }
  return encode({
    types: [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    samples: list,
    period: intervalUs * 1000,
    startedMs,
    durationNs: (profile.endTime - profile.startTime) * 1000,
  });
}

export function heapProfile(
  profile: HeapProfiler.SamplingHeapProfile,
  startedMs: number,
  intervalBytes: number,
): Promise<Buffer> {
  const samples: Sample[] = [];
  const walk = (node: HeapProfiler.SamplingHeapProfileNode, above: readonly Frame[]): void => {
    const stack = node.callFrame.functionName === '(root)' ? above : [frameOf(node.callFrame), ...above];
    if (node.selfSize > 0) samples.push({ stack, values: [Math.ceil(node.selfSize / intervalBytes), node.selfSize] });
    for (const child of node.children) walk(child, stack);
  };
  walk(profile.head, []);
  return encode({
    types: [
      ['inuse_objects', 'count'],
      ['inuse_space', 'bytes'],
    ],
    samples,
    period: intervalBytes,
    startedMs,
    durationNs: (Date.now() - startedMs) * 1e6,
  });
}

const frameOf = (frame: { functionName: string; url: string; lineNumber: number }): Frame => ({
  name: frame.functionName === '' ? '(anonymous)' : frame.functionName,
  file: frame.url,
  line: Math.max(frame.lineNumber + 1, 0),
});

function encode({ types, samples, period, startedMs, durationNs }: Profile): Promise<Buffer> {
  const strings = new Interner<string>((text) => text);
  const functions = new Interner<Frame>(({ name, file }) => `${name}\0${file}`);
  const locations = new Interner<Frame>(({ name, file, line }) => `${name}\0${file}\0${line}`);
  strings.number('');
  const out: Buffer[] = [];
  const valueType = ([type, unit]: readonly [string, string]): Buffer =>
    Buffer.concat([varintField(1, strings.number(type)), varintField(2, strings.number(unit))]);
  for (const type of types) out.push(bytesField(1, valueType(type)));
  for (const { stack, values } of samples) {
    const ids = stack.map((frame) => locations.number(frame) + 1);
    out.push(bytesField(2, Buffer.concat([packedField(1, ids), packedField(2, values)])));
  }
  locations.all.forEach((frame, i) => {
    const line = Buffer.concat([varintField(1, functions.number(frame) + 1), varintField(2, frame.line)]);
    out.push(bytesField(4, Buffer.concat([varintField(1, i + 1), bytesField(4, line)])));
  });
  functions.all.forEach(({ name, file }, i) => {
    const parts = [varintField(1, i + 1), varintField(2, strings.number(name)), varintField(4, strings.number(file))];
    out.push(bytesField(5, Buffer.concat(parts)));
  });
  const last = types.at(-1);
  const periodType = last === undefined ? Buffer.alloc(0) : valueType(last);
  for (const text of strings.all) out.push(bytesField(6, Buffer.from(text, 'utf8')));
  out.push(
    varintField(9, startedMs * 1e6),
    varintField(10, durationNs),
    bytesField(11, periodType),
    varintField(12, period),
  );
  return promisify(gzip)(Buffer.concat(out));
}

/** Numbers things in the order they are first seen. */
class Interner<T> {
  readonly all: T[] = [];
  private readonly numbers = new Map<string, number>();

  constructor(private readonly keyOf: (value: T) => string) {}

  number(value: T): number {
    const key = this.keyOf(value);
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.all.push(value) - 1;
      this.numbers.set(key, number);
    }
    return number;
  }
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(Math.round(value));
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

const varintField = (field: number, value: number): Buffer => Buffer.concat([varint(field << 3), varint(value)]);
const bytesField = (field: number, content: Buffer): Buffer =>
  Buffer.concat([varint((field << 3) | 2), varint(content.length), content]);
const packedField = (field: number, values: readonly number[]): Buffer =>
  bytesField(field, Buffer.concat(values.map(varint)));

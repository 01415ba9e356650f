// Spans in the form that collectors accept: OpenTelemetry's ExportTraceServiceRequest, in protobuf.
import { BackwardWriter } from '../lib/protobuf/backward-writer.js';
import type { RecordedSpan, SpanEvent } from './recorded-span.js';
import type { SpanContext } from './span-context.js';
import type { Attributes, Scope, SpanKind } from './trace.js';

const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const ERROR = 2;
/** It is known whether the parent is of another program, and it is. */
const KNOWS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** `resource`: who sends them. */
export function encodeSpans(resource: Attributes, spans: readonly RecordedSpan[]): Buffer {
  const byScope = new Map<Scope, RecordedSpan[]>();
  for (const span of spans) {
    const { scope } = span.birth;
    const known = byScope.get(scope);
    if (known === undefined) byScope.set(scope, [span]);
    else known.push(span);
  }
  const out = new BackwardWriter();
  const end = out.end;
  for (const [scope, members] of byScope) writeScope(out, scope, members);
  const resourceEnd = out.end;
  writeAttributes(out, 1, resource);
  out.message(1, resourceEnd);
  out.message(1, end);
  return out.finish();
}

function writeScope(out: BackwardWriter, scope: Scope, spans: readonly RecordedSpan[]): void {
  const end = out.end;
  for (const span of spans) writeSpan(out, span);
  const nameEnd = out.end;
  out.string(1, scope);
  out.message(1, nameEnd);
  out.message(2, end);
}

// Last first: the writer goes backwards.
function writeSpan(out: BackwardWriter, span: RecordedSpan): void {
  const { birth, recording, failure, parentId, above } = span;
  const end = out.end;
  out.fixed32(16, KNOWS_REMOTE | (parentId !== '' && above === undefined ? IS_REMOTE : 0));
  if (failure !== undefined) {
    const statusEnd = out.end;
    out.int(3, ERROR);
    if (failure !== '') out.string(2, failure);
    out.message(15, statusEnd);
  }
  if (birth.link !== undefined) writeLink(out, birth.link);
  if (span.droppedEvents > 0) out.int(12, span.droppedEvents);
  for (let i = span.events.length - 1; i >= 0; i--) writeEvent(out, span.events[i] as SpanEvent);
  writeAttributes(out, 9, span.attributes);
  out.nanoseconds(8, span.endMs);
  out.nanoseconds(7, span.startMs);
  out.int(6, KINDS[birth.kind]);
  out.string(5, birth.name);
  if (parentId !== '') out.hex(4, parentId);
  if (recording.state !== '') out.string(3, recording.state);
  out.hex(2, span.id);
  out.hex(1, recording.traceId);
  out.message(2, end);
}

function writeLink(out: BackwardWriter, { traceId, spanId, state }: SpanContext): void {
  const end = out.end;
  out.fixed32(6, KNOWS_REMOTE | IS_REMOTE);
  if (state !== '') out.string(3, state);
  out.hex(2, spanId);
  out.hex(1, traceId);
  out.message(13, end);
}

function writeEvent(out: BackwardWriter, { name, atMs, attributes }: SpanEvent): void {
  const end = out.end;
  writeAttributes(out, 3, attributes);
  out.string(2, name);
  out.nanoseconds(1, atMs);
  out.message(11, end);
}

function writeAttributes(out: BackwardWriter, field: number, attributes: Attributes): void {
  for (const key in attributes) {
    const value = attributes[key];
    if (value === undefined) continue;
    const end = out.end;
    writeValue(out, value);
    out.message(2, end);
    out.string(1, key);
    out.message(field, end);
  }
}

function writeValue(out: BackwardWriter, value: string | number | boolean): void {
  if (typeof value === 'string') out.string(1, value);
  else if (typeof value === 'boolean') out.int(2, value ? 1 : 0);
  else if (Number.isInteger(value)) out.int(3, value);
  else out.double(4, value);
}

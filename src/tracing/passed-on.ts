import { readBaggage, readSpanContext, type SentHeaders, traceHeaders } from './span-context.js';
import type { OutgoingCall, Trace } from './trace.js';

const NOTHING: OutgoingCall = { headers: {}, span: undefined };

/** Where nothing is traced, what a client sent goes on to those who are called for it. */
export function passedOn(sent: SentHeaders): Trace {
  const call = sent.traceparent === undefined && sent.baggage === undefined ? NOTHING : callOf(sent);
  return { span: undefined, calling: () => call };
}

function callOf(sent: SentHeaders): OutgoingCall {
  const context = readSpanContext(sent);
  const baggage = readBaggage(sent.baggage);
  if (context !== undefined) return { headers: traceHeaders(context, baggage), span: undefined };
  return baggage === '' ? NOTHING : { headers: { baggage }, span: undefined };
}

import { loadTracing } from '../../config/tracing/load.js';
import type { Options } from '../../options/options.js';
import type { Tracer } from '../../tracing/tracer.js';
import type { TracingParts } from './tracing.js';

type TracingModule = typeof import('./tracing.js');

/** Undefined without a file: then nothing of it is even read, for in the bundle what is required stands unread until then. */
export function createTracer({ traces, featureGates }: Options, parts: TracingParts): Tracer | undefined {
  if (traces.tracingConfigFile === '' || !featureGates.enabled('APIServerTracing')) return undefined;
  const { buildTracing } = require('./tracing.js') as TracingModule;
  return buildTracing(loadTracing(traces.tracingConfigFile), parts);
}

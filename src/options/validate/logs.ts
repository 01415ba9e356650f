import { fieldErrorText, FieldPath, forbidden, invalid, type FieldErrors } from '../../machinery/field-error.js';
import type { FeatureGates } from '../../machinery/feature-gates.js';
import type { Flags } from '../topics.js';

/** The log comes first of all, so its options are checked before the others and alone. */
export function logErrors({ logs }: Flags, gates: FeatureGates): string[] {
  const errors: FieldErrors = [];
  if (logs.loggingFormat !== 'text') {
    const format = FieldPath.of('format');
    if (logs.loggingFormat !== 'json') errors.push(invalid(format, logs.loggingFormat, 'Unsupported log format'));
    else if (!gates.enabled('LoggingBetaOptions')) {
      errors.push(forbidden(format, 'Log format json is disabled, see LoggingBetaOptions feature'));
    }
    if (logs.vmodule.length > 0 && logs.loggingFormat !== '') {
      errors.push(forbidden(FieldPath.of('vmodule'), 'Only supported for text log format'));
    }
  }
  if (!gates.enabled('LoggingAlphaOptions')) {
    const why = 'Feature LoggingAlphaOptions is disabled';
    for (const [format, split, bufferBytes] of [
      ['text', logs.logTextSplitStream, logs.logTextInfoBufferSize],
      ['json', logs.logJsonSplitStream, logs.logJsonInfoBufferSize],
    ] as const) {
      if (split) errors.push(forbidden(FieldPath.of('options', format, 'splitStream'), why));
      if (bufferBytes !== 0) errors.push(forbidden(FieldPath.of('options', format, 'infoBufferSize'), why));
    }
  }
  return errors.map(fieldErrorText);
}

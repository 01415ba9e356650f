import { apiVersionFault } from '../../machinery/object.js';
import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import { intText } from '../int-text.js';
import { AUDIT_GROUP_VERSION } from '../../machinery/names.js';
import type { Options } from '../options.js';

const MODES = ['batch', 'blocking', 'blocking-strict'];
const FORMATS = ['legacy', 'json'];

interface Backend {
  readonly name: 'log' | 'webhook';
  readonly mode: string;
  readonly bufferSize: number;
  readonly maxBatchSize: number;
  readonly throttle: boolean;
  readonly qps: number;
  readonly burst: number;
  readonly truncateBatchSize: number;
  readonly truncateEventSize: number;
  readonly groupVersion: string;
}

export function auditErrors({ audit }: Options): string[] {
  const errors: string[] = [];
  if (audit.auditLogPath !== '') {
    append(
      errors,
      backendErrors({
        name: 'log',
        mode: audit.auditLogMode,
        bufferSize: audit.auditLogBatchBufferSize,
        maxBatchSize: audit.auditLogBatchMaxSize,
        throttle: audit.auditLogBatchThrottleEnable,
        qps: audit.auditLogBatchThrottleQps,
        burst: audit.auditLogBatchThrottleBurst,
        truncateBatchSize: audit.auditLogTruncateMaxBatchSize,
        truncateEventSize: audit.auditLogTruncateMaxEventSize,
        groupVersion: audit.auditLogVersion,
      }),
    );
    if (!FORMATS.includes(audit.auditLogFormat)) {
      errors.push(
        `invalid audit log format ${audit.auditLogFormat}, allowed formats are ${goQuote(FORMATS.join(','))}`,
      );
    }
    for (const [flag, value] of [
      ['maxage', audit.auditLogMaxage],
      ['maxbackup', audit.auditLogMaxbackup],
      ['maxsize', audit.auditLogMaxsize],
    ] as const) {
      if (value < 0) errors.push(`--audit-log-${flag} ${intText(value)} can't be a negative number`);
    }
  }
  if (audit.auditWebhookConfigFile !== '') {
    append(
      errors,
      backendErrors({
        name: 'webhook',
        mode: audit.auditWebhookMode,
        bufferSize: audit.auditWebhookBatchBufferSize,
        maxBatchSize: audit.auditWebhookBatchMaxSize,
        throttle: audit.auditWebhookBatchThrottleEnable,
        qps: audit.auditWebhookBatchThrottleQps,
        burst: audit.auditWebhookBatchThrottleBurst,
        truncateBatchSize: audit.auditWebhookTruncateMaxBatchSize,
        truncateEventSize: audit.auditWebhookTruncateMaxEventSize,
        groupVersion: audit.auditWebhookVersion,
      }),
    );
  }
  return errors;
}

function backendErrors(backend: Backend): string[] {
  return [batchError(backend), truncateError(backend), versionError(backend.groupVersion)].filter(
    (error) => error !== undefined,
  );
}

function batchError({ name, mode, bufferSize, maxBatchSize, throttle, qps, burst }: Backend): string | undefined {
  if (!MODES.includes(mode)) return `invalid audit ${name} mode ${mode}, allowed modes are ${goQuote(MODES.join(','))}`;
  if (mode !== 'batch') return undefined;
  const mustBePositive = (what: string, value: number, text = intText(value)) =>
    value > 0 ? undefined : `invalid audit batch ${name} ${what} ${text}, must be a positive number`;
  return (
    mustBePositive('buffer size', bufferSize) ??
    mustBePositive('max batch size', maxBatchSize) ??
    (throttle
      ? (mustBePositive('throttle QPS', qps, String(qps)) ?? mustBePositive('throttle burst', burst))
      : undefined)
  );
}

function truncateError({ name, truncateBatchSize, truncateEventSize }: Backend): string | undefined {
  if (truncateEventSize <= 0) {
    return `invalid audit truncate ${name} max event size ${intText(truncateEventSize)}, must be a positive number`;
  }
  if (truncateBatchSize >= truncateEventSize) return undefined;
  return `invalid audit truncate ${name} max batch size ${intText(truncateBatchSize)}, must be greater than max event size (${intText(truncateEventSize)})`;
}

function versionError(groupVersion: string): string | undefined {
  const fault = apiVersionFault(groupVersion);
  if (fault !== undefined || groupVersion === AUDIT_GROUP_VERSION) return fault;
  return `invalid group version, allowed versions are [${goQuote(AUDIT_GROUP_VERSION)}]`;
}

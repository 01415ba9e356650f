// Audit, when a policy and a backend are configured: the policy, the back ends and the modes they work in.
import fs from 'node:fs';
import path from 'node:path';
import { type AuditBackend, ignoringErrors, type OnLost, union } from '../../audit/backend.js';
import { BufferedBackend, type BufferedOptions } from '../../audit/buffered.js';
import { type EventQueue, PlainQueue } from '../../audit/event-queue.js';
import { createLogBackend, LogQueue, type LineWriter, type Log } from '../../audit/log-backend.js';
import { lostEvents } from '../../audit/lost-events.js';
import { createAuditMetrics } from '../../audit/metrics.js';
import { tidyOldFiles } from '../../audit/old-files.js';
import { compilePolicy } from '../../audit/policy.js';
import { RotatingFile } from '../../audit/rotating-file.js';
import { standardOutput } from '../../audit/standard-output.js';
import { truncating } from '../../audit/truncating.js';
import { loadAuditPolicy } from '../../config/audit-policy/load.js';
import type { Audit } from '../../filters/audit.js';
import { systemClock } from '../../lib/async/clock.js';
import type { Logger } from '../../lib/telemetry/log.js';
import { madeFileError, makeFolder } from '../../lib/files/make-folder.js';
import type { MetricRegistry } from '../../lib/telemetry/metrics.js';
import type { Dialer } from '../../outbound/dialer.js';
import type { Options } from '../../options/options.js';
import { type AuditWebhookOptions, buildAuditWebhook } from './audit-webhook.js';
import { restClientMetrics } from '../metrics/rest-client-metrics.js';

type AuditOptions = Options['audit'];

export interface AuditParts {
  readonly metrics: MetricRegistry;
  readonly log: Logger;
  /** The way to the webhook. */
  readonly dialer: Dialer;
  /** Called when nothing is in flight any more. */
  readonly onDrained: (close: () => Promise<void>) => void;
  /** Where several processes are one server: one of them writes the log of all. */
  readonly sharedLog?: LineWriter | undefined;
}

/** Undefined when nothing is recorded. Throws what keeps the server from starting. */
export function buildAudit({ audit, workers }: Options, parts: AuditParts): Audit | undefined {
  const { metrics: registry, log, dialer, onDrained } = parts;
  const metrics = createAuditMetrics(registry);
  const policy = readPolicy(audit.auditPolicyFile, log);
  const onLost = lostEvents({ log, count: metrics.lost, clock: systemClock });
  const writer = audit.auditLogPath === '' ? undefined : (parts.sharedLog ?? auditLogWriter(audit, log));
  if (policy === undefined) return undefined;
  const ending = new AbortController();
  const backends = [
    ...(writer === undefined ? [] : [logBackend(audit, { writer, onLost, workers })]),
    ...(audit.auditWebhookConfigFile === ''
      ? []
      : [
          webhookBackend(audit, {
            dialer,
            ending: ending.signal,
            onLost,
            workers,
            observe: restClientMetrics(registry),
          }),
        ]),
  ];
  if (backends.length === 0) return undefined;
  const sink = union(backends);
  onDrained(async () => {
    ending.abort();
    await sink.close();
  });
  return { policy, sink, metrics };
}

function readPolicy(file: string, log: Logger): Audit['policy'] | undefined {
  if (file === '') return undefined;
  const loaded = loadAuditPolicy(file);
  if (!loaded.ok) throw new Error(loaded.error);
  if (loaded.strictErrors.length > 0) {
    const errors = loaded.strictErrors.join(', ');
    log.warning(`Audit policy contains errors, falling back to lenient decoding: strict decoding error: ${errors}`);
  }
  return compilePolicy(loaded.policy);
}

/** Writes to `--audit-log-path`, which is set. */
export function auditLogWriter(audit: AuditOptions, log: Logger): LineWriter {
  const file = audit.auditLogPath;
  if (file === '-') return standardOutput(process.stdout);
  ensureFile(file);
  const now = (): number => Date.now();
  const tidy = tidyOldFiles({
    file,
    maxBackups: audit.auditLogMaxbackup,
    maxAgeDays: audit.auditLogMaxage,
    compress: audit.auditLogCompress,
    now,
    onError: (error) => log.error(error, 'Old audit logs could not be tidied up', { file }),
  });
  return new RotatingFile({ file, maxMegabytes: audit.auditLogMaxsize, now, tidy });
}

/** The file is made, or seen to be writable, before the first request needs it. */
function ensureFile(file: string): void {
  try {
    makeFolder(path.dirname(file));
    fs.closeSync(fs.openSync(file, 'a+', 0o600));
  } catch (error) {
    throw new Error(`ensureLogFile: ${madeFileError(error, file)}`, { cause: error });
  }
}

interface LogParts {
  readonly writer: LineWriter;
  readonly onLost: OnLost;
  /** How many processes share the limits of the throttle. */
  readonly workers: number;
}

function logBackend(audit: AuditOptions, { writer, onLost, workers }: LogParts): AuditBackend {
  const log: Log = { writer, format: audit.auditLogFormat === 'legacy' ? 'legacy' : 'json', onLost };
  const batches = {
    bufferSize: audit.auditLogBatchBufferSize,
    maxBatchSize: audit.auditLogBatchMaxSize,
    maxBatchWaitMs: audit.auditLogBatchMaxWaitMs,
    throttle: audit.auditLogBatchThrottleEnable
      ? shareOf(workers, audit.auditLogBatchThrottleQps, audit.auditLogBatchThrottleBurst)
      : undefined,
    parallel: false,
    // Each batch has a token of its own where there is a throttle.
    joinable: !audit.auditLogBatchThrottleEnable,
  };
  const stored = createLogBackend(log);
  // Batches that are handed on one by one are not cut out of the lines of all.
  const queue = (): EventQueue => (batches.joinable ? new LogQueue(log) : new PlainQueue(stored));
  const backend = inMode({ mode: audit.auditLogMode, backend: stored, queue, batches, onLost });
  if (!audit.auditLogTruncateEnabled) return backend;
  const limits = {
    maxEventBytes: audit.auditLogTruncateMaxEventSize,
    maxBatchBytes: audit.auditLogTruncateMaxBatchSize,
  };
  return truncating(backend, limits, onLost);
}

const shareOf = (workers: number, perSecond: number, burst: number): BufferedOptions['throttle'] => ({
  perSecond: perSecond / workers,
  burst: Math.max(1, Math.round(burst / workers)),
});

type WebhookParts = Omit<AuditWebhookOptions, 'file' | 'initialBackoffMs'> & Pick<LogParts, 'workers'>;

function webhookBackend(audit: AuditOptions, parts: WebhookParts): AuditBackend {
  const { onLost } = parts;
  const webhook = buildAuditWebhook({
    ...parts,
    file: audit.auditWebhookConfigFile,
    initialBackoffMs: audit.auditWebhookInitialBackoffMs,
  });
  const batches = {
    bufferSize: audit.auditWebhookBatchBufferSize,
    maxBatchSize: audit.auditWebhookBatchMaxSize,
    maxBatchWaitMs: audit.auditWebhookBatchMaxWaitMs,
    throttle: audit.auditWebhookBatchThrottleEnable
      ? shareOf(parts.workers, audit.auditWebhookBatchThrottleQps, audit.auditWebhookBatchThrottleBurst)
      : undefined,
    parallel: true,
    joinable: false,
  };
  const backend = inMode({
    mode: audit.auditWebhookMode,
    backend: webhook,
    queue: () => new PlainQueue(webhook),
    batches,
    onLost,
  });
  if (!audit.auditWebhookTruncateEnabled) return backend;
  const limits = {
    maxEventBytes: audit.auditWebhookTruncateMaxEventSize,
    maxBatchBytes: audit.auditWebhookTruncateMaxBatchSize,
  };
  return truncating(backend, limits, onLost);
}

interface AuditMode {
  readonly mode: string;
  readonly backend: AuditBackend;
  readonly queue: () => EventQueue;
  readonly batches: BufferedOptions;
  readonly onLost: OnLost;
}

function inMode({ mode, backend, queue, batches, onLost }: AuditMode): AuditBackend {
  switch (mode) {
    case 'blocking-strict':
      return backend;
    case 'blocking':
      return ignoringErrors(backend);
    default:
      return new BufferedBackend(queue(), batches, systemClock, onLost);
  }
}

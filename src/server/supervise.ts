// The supervising process of a server with several: it has the port and the worker processes, and serves nothing itself.
import { monotonicClock } from '../lib/async/clock.js';
import type { Logs } from '../lib/telemetry/log.js';
import { type CollectedMetric, MetricRegistry } from '../lib/telemetry/metrics.js';
import { errorText } from '../lib/text/error-text.js';
import type { Options } from '../options/options.js';
import { relayQuestions } from '../workers/ask-others.js';
import { MergedMetrics } from '../workers/merge-metrics.js';
import { startWorkerProcess } from '../workers/processes.js';
import { RestartBudget } from '../workers/restart-budget.js';
import { SeatRounds } from '../workers/seat-rounds.js';
import { SEAT_TOPICS } from '../workers/shared-seats.js';
import { exitText, Supervisor } from '../workers/supervisor.js';
import { REBALANCE_MS, rebalanceWorkers } from './flow-control/rebalance-workers.js';
import { bindPort } from './listener/port.js';
import { auditLogWriter } from './telemetry/audit.js';
import { shareVerbosity } from './telemetry/shared-verbosity.js';
import { writeForWorkers } from './telemetry/shared-audit-log.js';
import { registerProcessMetrics } from './metrics/process-metrics.js';

/** What waits for metrics waits longer than a probe: Prometheus gives up after ten seconds. */
const MAX_SCRAPE_MS = 5_000;

export interface SupervisedServer {
  /** All workers have started. */
  readonly started: Promise<void>;
  /** Rejects when the workers cannot go on. */
  readonly failed: Promise<never>;
  /** A worker received a signal that is meant for the server. */
  readonly signalled: Promise<void>;
  /** Every worker looks at the files that it follows at once. */
  reload(): void;
  shutdown(): Promise<void>;
}

export async function superviseServer(options: Options, logs: Logs): Promise<SupervisedServer> {
  const { bindAddress: address, securePort: port, permitPortSharing } = options.secureServing;
  const log = logs.for('supervisor');
  const own = new MetricRegistry();
  registerProcessMetrics(own);
  const nowMs = (): number => monotonicClock.now();
  const merged = { metrics: new MergedMetrics(), slis: new MergedMetrics() };
  const supervisor = new Supervisor({
    count: options.workers,
    start: startWorkerProcess,
    budget: new RestartBudget({ nowMs }),
    nowMs,
    every(ms, callback) {
      const timer = setInterval(callback, ms);
      return () => clearInterval(timer);
    },
    after: (ms, callback) => void monotonicClock.after(ms, callback),
    onNotStarted: ({ index, pid, ...exit }, retryMs) =>
      log.error(undefined, 'A worker process could not start and is started again later; the others serve meanwhile', {
        worker: index,
        pid,
        reason: exitText(exit),
        retryInSeconds: retryMs / 1000,
      }),
    onHung: ({ index, pid }) =>
      log.error(undefined, 'A worker process does not answer and is killed', { worker: index, pid }),
    onReplaced({ index, pid, ...exit }) {
      merged.metrics.ended(index);
      merged.slis.ended(index);
      log.error(undefined, 'A worker process ended and is replaced', { worker: index, pid, reason: exitText(exit) });
    },
  });
  supervisor.handle('metrics', async (asked) => {
    const which = asked === 'slis' ? 'slis' : 'metrics';
    const answers = await supervisor.askAll('metrics', which, MAX_SCRAPE_MS);
    const reports = answers.map(({ index, content }) => ({ index, metrics: content as readonly CollectedMetric[] }));
    return merged[which].text(which === 'slis' ? reports : [...reports, { index: -1, metrics: own.collect() }]);
  });
  supervisor.handle('health', async (endpoint, worker) => {
    const answers = await supervisor.askOthers(worker, 'health', endpoint);
    return answers.map(({ content }) => content);
  });
  relayQuestions(supervisor);
  shareVerbosity(logs, supervisor);
  const seats = new SeatRounds({ workers: () => supervisor.serving });
  supervisor.handle(SEAT_TOPICS.request, (name) => seats.request(String(name)));
  if (options.features.enablePriorityAndFairness) {
    setInterval(() => void rebalanceWorkers(supervisor), REBALANCE_MS).unref();
  }
  const signalled = new Promise<void>((resolve) => supervisor.handle('signal', () => resolve()));
  // Clients that come before a worker is there wait for it, as they do at kube-apiserver.
  const listener = { address, port, permitPortSharing, pauseOnConnect: true, log: logs.for('listener') };
  const open = await bindPort(listener, (socket) => supervisor.accept(socket));
  // After the port: a start that it refuses leaves nothing behind.
  const auditLog = options.audit.auditLogPath === '' ? undefined : auditLogWriter(options.audit, logs.for('audit'));
  if (auditLog !== undefined) supervisor.handle('audit', writeForWorkers(auditLog));
  await supervisor.start();
  open.announce();
  void supervisor.started.then(() => log.info('All worker processes have started', { workers: options.workers }));
  void supervisor.failed.catch((error: unknown) => {
    log.error(undefined, errorText(error));
    supervisor.kill();
  });
  // With --shutdown-send-retry-after new connections are answered, with 429, until nothing is in flight any more.
  const lastPhase = options.generic.shutdownSendRetryAfter ? 'drained' : 'draining';
  return {
    started: supervisor.started,
    failed: supervisor.failed,
    signalled,
    reload: () => supervisor.notifyAll('reload'),
    async shutdown() {
      await Promise.race([supervisor.shutdown((phase) => phase === lastPhase && open.close()), supervisor.failed]);
      await auditLog?.close();
    },
  };
}

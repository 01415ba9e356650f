// The program: from its command line to its end.
import path from 'node:path';
import { errorText } from './lib/text/error-text.js';
import type { Logs } from './lib/telemetry/log.js';
import { buildStamp } from './machinery/build-stamp.js';
import { PROGRAM } from './machinery/names.js';
import type { Options } from './options/options.js';
import { commandFailedLine, parseCommandLine } from './options/parse-command-line.js';
import { buildServer } from './server/build-server.js';
import { configurationHooks } from './server/configuration-hooks.js';
import { firstSignal } from './server/lifecycle/lifecycle.js';
import { StartFailure } from './server/lifecycle/start-failure.js';
import { PostStartHookError } from './server/lifecycle/post-start-hooks.js';
import { serviceManager } from './server/lifecycle/service-manager.js';
import { superviseServer } from './server/supervise.js';
import { createServerLogs } from './server/telemetry/logs.js';
import { serveClusters } from './testkit/host/serve-clusters.js';
import { SERVE_CLUSTERS } from './testkit/protocol/serve-clusters-flags.js';
import { linkToSupervisor } from './workers/processes.js';
import type { SupervisorLink } from './workers/supervisor-link.js';
import { WorkersFailed } from './workers/supervisor.js';

/** Node cuts small buffers from slabs of this size. Each request takes several kilobytes; the default is 8. */
Buffer.poolSize = 64 * 1024;

/** Of a server that had begun to serve; before that it is 1. */
const FATAL_EXIT_CODE = 255;

async function main(): Promise<void> {
  const command = parseCommandLine(process.argv.slice(2), process.env, {
    columns: process.stdout.columns,
    // What parses the answer of kube-apiserver gets its one line.
    ownVersion: path.basename(process.argv[1] ?? '') === PROGRAM ? undefined : buildStamp.version,
    ...configurationHooks,
  });
  switch (command.kind) {
    case 'print':
      // Whoever reads it may have seen enough.
      process.stdout.on('error', () => process.exit(1));
      process.stdout.write(command.text);
      return;
    case 'refused':
      process.stderr.write(`${command.lines.join('\n')}\n`);
      process.exitCode = command.exitCode;
      return;
    case 'run':
      break;
  }
  const { options, notices } = command;
  const link = linkToSupervisor(options.workers);
  // The supervisor has said these.
  if (link === undefined) for (const notice of notices) process.stderr.write(`${notice}\n`);
  const logs = createServerLogs(options);
  const log = logs.for('main');
  // What nobody caught is a bug of ours that may have left anything half done: the process ends, with a trace of it.
  process.on('uncaughtException', (error) => {
    log.error(error, 'Unhandled error, exiting');
    logs.flush();
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(2);
  });
  if (link === undefined) for (const warning of options.warnings) log.warning(warning);
  try {
    if (link !== undefined) await work(options, logs, link);
    else if (options.workers > 1) await supervise(options, logs);
    else await serve(options, logs);
    logs.flush();
    process.exit(0);
  } catch (error) {
    logs.flush();
    // A worker that did not come up has said why itself.
    if (!(error instanceof WorkersFailed && error.atStart && error.last.signal === null)) {
      const text = errorText(error);
      process.stderr.write(`${commandFailedLine(text, new Date(), options.logs.loggingFormat)}\n`);
      if (error instanceof TypeError || error instanceof RangeError) process.stderr.write(`${error.stack}\n`);
    }
    process.exit(exitCodeOf(error));
  }
}

/** One process, which is the server. */
async function serve(options: Options, logs: Logs): Promise<void> {
  const signal = firstSignal();
  const manager = serviceManager({ env: process.env, log: logs.for('main') });
  const server = await buildServer(options, logs);
  manager.onReload(() => server.reload());
  await runUntil([signal], server, manager);
}

/** One of the processes that are the server. */
async function work(options: Options, logs: Logs, link: SupervisorLink): Promise<void> {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => link.requestShutdown());
  const server = await buildServer(options, logs, { link });
  link.onReload(() => server.reload());
  await runUntil([link.shutdown], server, { ready: () => link.started(), stopping: () => undefined });
}

/** The process that starts those that are the server. */
async function supervise(options: Options, logs: Logs): Promise<void> {
  const signal = firstSignal();
  const manager = serviceManager({ env: process.env, log: logs.for('main') });
  const server = await superviseServer(options, logs);
  manager.onReload(() => server.reload());
  await runUntil([signal, server.signalled, server.failed], server, manager);
}

interface Running {
  readonly started: Promise<unknown>;
  shutdown(): Promise<void>;
}

/** The first of `ends` shuts the server down. A start-up step that fails ends it, too: half a server is worse than none. */
async function runUntil(
  ends: readonly Promise<unknown>[],
  server: Running,
  manager: { ready(): void; stopping(): void },
): Promise<void> {
  const started = server.started.then(() => {
    manager.ready();
    return Promise.race(ends);
  });
  await Promise.race([...ends, started]);
  manager.stopping();
  await server.shutdown();
}

function exitCodeOf(error: unknown): number {
  if (error instanceof StartFailure) return error.exitCode;
  if (error instanceof WorkersFailed) return (error.atStart ? error.last.code : undefined) ?? FATAL_EXIT_CODE;
  return error instanceof PostStartHookError ? FATAL_EXIT_CODE : 1;
}

const [, file = '', word] = process.argv;
if (word === SERVE_CLUSTERS && path.basename(file) !== PROGRAM) void serveClusters(process.argv.slice(3));
else void main();

// The program: from its command line to its end.
import path from 'node:path';
import { errorText } from './lib/text/error-text.js';
import { buildStamp } from './machinery/build-stamp.js';
import { PROGRAM } from './machinery/names.js';
import { commandFailedLine, parseCommandLine } from './options/parse-command-line.js';
import { buildServer } from './server/build-server.js';
import { configurationHooks } from './server/configuration-hooks.js';
import { firstSignal } from './server/lifecycle/lifecycle.js';
import { StartFailure } from './server/lifecycle/start-failure.js';
import { PostStartHookError } from './server/lifecycle/post-start-hooks.js';
import { serviceManager } from './server/lifecycle/service-manager.js';
import { createServerLogs } from './server/telemetry/logs.js';
import { serveClusters } from './testkit/host/serve-clusters.js';
import { SERVE_CLUSTERS } from './testkit/protocol/serve-clusters-flags.js';

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
  for (const notice of notices) process.stderr.write(`${notice}\n`);
  const logs = createServerLogs(options);
  const log = logs.for('main');
  // What nobody caught is a bug of ours that may have left anything half done: the process ends, with a trace of it.
  process.on('uncaughtException', (error) => {
    log.error(error, 'Unhandled error, exiting');
    logs.flush();
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(2);
  });
  for (const warning of options.warnings) log.warning(warning);
  const signal = firstSignal();
  try {
    const manager = serviceManager({ env: process.env, log });
    const server = await buildServer(options, logs);
    const started = server.started.then(() => {
      manager.ready();
      return signal;
    });
    // A start-up step that fails ends the process: half a server is worse than none.
    await Promise.race([signal, started]);
    manager.stopping();
    await server.shutdown();
    logs.flush();
    process.exit(0);
  } catch (error) {
    logs.flush();
    const text = errorText(error);
    process.stderr.write(`${commandFailedLine(text, new Date(), options.logs.loggingFormat)}\n`);
    if (error instanceof TypeError || error instanceof RangeError) process.stderr.write(`${error.stack}\n`);
    process.exit(exitCodeOf(error));
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof StartFailure) return error.exitCode;
  return error instanceof PostStartHookError ? FATAL_EXIT_CODE : 1;
}

const [, file = '', word] = process.argv;
if (word === SERVE_CLUSTERS && path.basename(file) !== PROGRAM) void serveClusters(process.argv.slice(3));
else void main();

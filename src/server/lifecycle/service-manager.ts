// Tells systemd how the service does (Type=notify, WatchdogSec=): that it is ready, that it stops, and, as long as the event
// loop turns, that it lives. systemd listens on a datagram socket, of which Node.js knows none, so that its own program
// `systemd-notify` sends; the unit says NotifyAccess=all.
import { execFile } from 'node:child_process';
import type { Logger } from '../../lib/telemetry/log.js';

export interface ServiceManager {
  ready(): void;
  stopping(): void;
  /** Called at SIGHUP, which `systemctl reload` sends. Without a service manager SIGHUP ends the process: its terminal is gone. */
  onReload(run: () => void): void;
}

export interface ServiceManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Logger;
  /** Ends with an error where the message could not be sent. */
  readonly send?: (message: string) => Promise<void>;
  readonly every?: (ms: number, run: () => void) => void;
  readonly onHangup?: (run: () => void) => void;
}

/** Without `NOTIFY_SOCKET` nobody listens, and nothing is sent. */
export function serviceManager(options: ServiceManagerOptions): ServiceManager {
  const { env, log, send = sendByProgram, every = repeatUnreferenced, onHangup = onSighup } = options;
  if ((env['NOTIFY_SOCKET'] ?? '') === '')
    return { ready: () => undefined, stopping: () => undefined, onReload: () => undefined };
  let isReported = false;
  const notify = (message: string): void => {
    send(message).catch((error: unknown) => {
      if (!isReported) log.error(error, 'The service manager cannot be notified');
      isReported = true;
    });
  };
  return {
    ready() {
      notify('READY=1');
      const watchdogMs = Number(env['WATCHDOG_USEC'] ?? 0) / 1000;
      // Half the time, as systemd's own documentation advises.
      if (watchdogMs > 0 && isForThisProcess(env)) every(watchdogMs / 2, () => notify('WATCHDOG=1'));
    },
    stopping: () => notify('STOPPING=1'),
    onReload: onHangup,
  };
}

const isForThisProcess = (env: ServiceManagerOptions['env']): boolean =>
  env['WATCHDOG_PID'] === undefined || Number(env['WATCHDOG_PID']) === process.pid;

const sendByProgram = (message: string): Promise<void> =>
  new Promise((resolve, reject) => {
    execFile('systemd-notify', [message], { timeout: SEND_TIMEOUT_MS }, (error) =>
      error === null ? resolve() : reject(error),
    );
  });

const onSighup = (run: () => void): void => {
  process.on('SIGHUP', run);
};

const SEND_TIMEOUT_MS = 10_000;

const repeatUnreferenced = (ms: number, run: () => void): void => {
  setInterval(run, ms).unref();
};

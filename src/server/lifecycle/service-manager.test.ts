import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogs } from '../../lib/telemetry/log.js';
import { serviceManager } from './service-manager.js';

function managed(env: Record<string, string>, fails = false) {
  const sent: string[] = [];
  const timers: { readonly ms: number; readonly run: () => void }[] = [];
  const lines: string[] = [];
  const hangups: (() => void)[] = [];
  const logs = createLogs({ verbosity: 0, write: (_, text) => void lines.push(text) });
  const manager = serviceManager({
    env,
    log: logs.for('test'),
    send: async (message) => {
      sent.push(message);
      if (fails) throw new Error('spawn systemd-notify ENOENT');
    },
    every: (ms, run) => timers.push({ ms, run }),
    onHangup: (run) => hangups.push(run),
  });
  return { manager, sent, timers, hangups, lines, logs };
}

test('nothing is sent where nobody listens', () => {
  const { manager, sent, timers } = managed({ WATCHDOG_USEC: '1000000' });
  manager.ready();
  manager.stopping();
  assert.deepEqual([sent, timers], [[], []]);
});

test('readiness, life in half the time of the watchdog, and the end are sent', () => {
  const { manager, sent, timers } = managed({
    NOTIFY_SOCKET: '/run/x',
    WATCHDOG_USEC: '60000000',
    WATCHDOG_PID: String(process.pid),
  });
  manager.ready();
  assert.deepEqual(
    timers.map(({ ms }) => ms),
    [30_000],
  );
  timers[0]?.run();
  manager.stopping();
  assert.deepEqual(sent, ['READY=1', 'WATCHDOG=1', 'STOPPING=1']);
});

test('SIGHUP is a request to reload from a service manager, and from nobody else', () => {
  let reloads = 0;
  for (const socket of ['/run/x', '']) {
    const { manager, hangups } = managed({ NOTIFY_SOCKET: socket });
    manager.onReload(() => reloads++);
    for (const hangup of hangups) hangup();
  }
  assert.equal(reloads, 1);
});

test('a watchdog of another process is left alone', () => {
  const { manager, timers } = managed({ NOTIFY_SOCKET: '/run/x', WATCHDOG_USEC: '60000000', WATCHDOG_PID: '1' });
  manager.ready();
  assert.deepEqual(timers, []);
});

test('that nothing can be sent is logged once, and the server goes on', async () => {
  const { manager, sent, lines, logs } = managed({ NOTIFY_SOCKET: '/run/x' }, true);
  manager.ready();
  manager.stopping();
  await new Promise(setImmediate);
  logs.flush();
  assert.equal(sent.length, 2);
  assert.equal(lines.join('').split('cannot be notified').length, 2);
});

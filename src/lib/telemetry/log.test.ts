import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLogs, type LogOptions } from './log.js';

function logged(
  options: Partial<LogOptions>,
  use: (logs: ReturnType<typeof createLogs>) => void,
): Record<1 | 2, string> {
  const written = { 1: '', 2: '' };
  const logs = createLogs({
    verbosity: 0,
    now: () => new Date(2026, 10, 5, 2, 7, 13, 45),
    write: (descriptor, text) => (written[descriptor] += text),
    ...options,
  });
  use(logs);
  logs.flush();
  return written;
}

test('a line has the severity, time, process, file, quoted message and fields', () => {
  const { 2: text } = logged({}, (logs) => {
    const log = logs.for('listener');
    log.info('Say "hi"', { a: 'b c', n: 1, ok: true, list: ['x'], none: undefined });
    log.plain('Serving securely on [::]:6443');
    log.error(new Error('broken'), 'Failed', { name: 'x' });
    log.warning('Careful');
  });
  const head = `1105 02:07:13.045000 ${String(process.pid).padStart(7)} listener.ts]`;
  assert.equal(
    text,
    `I${head} "Say \\"hi\\"" a="b c" n=1 ok=true list=["x"]
I${head} Serving securely on [::]:6443
E${head} "Failed" err="broken" name="x"
W${head} "Careful"
`,
  );
});

test('-v and --vmodule decide which lines are wanted', () => {
  logged({ verbosity: 2, modules: [{ pattern: 'wat*', verbosity: 5 }] }, (logs) => {
    assert.ok(logs.for('main').v(2));
    assert.equal(logs.for('main').v(3), undefined);
    assert.ok(logs.for('watch-cache').v(5));
    assert.equal(logs.for('watch-cache').v(6), undefined);
  });
});

test('split streams send errors to standard error and the rest to standard output', () => {
  const { 1: out, 2: err } = logged({ splitStream: true }, (logs) => {
    logs.for('x').info('fine');
    logs.for('x').error(undefined, 'bad');
  });
  assert.match(out, /"fine"\n$/);
  assert.match(err, /"bad"\n$/);
});

test('as JSON each line is an object, with what the fields say beside it', () => {
  const written: string[] = [];
  const now = (): Date => new Date('2030-01-02T03:04:05.006Z');
  const logs = createLogs({ verbosity: 0, format: 'json', now, write: (_to, text) => written.push(text) });
  logs.for('listener').info('Serving', { port: 1, path: undefined });
  logs.for('listener').error(new Error('broken "pipe"'), 'Failed', { size: 2n });
  logs.flush();
  const lines = written.join('').trimEnd().split('\n');
  assert.deepEqual(lines, [
    '{"ts":1893553445006,"caller":"listener.ts","msg":"Serving","v":0,"port":1}',
    '{"ts":1893553445006,"caller":"listener.ts","msg":"Failed","err":"broken \\"pipe\\"","size":"2"}',
  ]);
});

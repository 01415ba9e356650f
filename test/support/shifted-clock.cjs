// Loaded into a server under test (node --require): the time of day is shifted by the milliseconds in the file that
// BINNACLE_CLOCK_FILE names, which is read at the start and at every SIGUSR2. Timers are not shifted, as where somebody sets the clock.
'use strict';
const fs = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const file = process.env['BINNACLE_CLOCK_FILE'];
if (file !== undefined) shift();

function shift() {
  const RealDate = Date;
  let offsetMs = read();
  const now = () => RealDate.now() + offsetMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    apply: () => new RealDate(now()).toString(),
    get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
  });
  if (isMainThread) process.on('SIGUSR2', () => (offsetMs = read()));
}

function read() {
  try {
    return Number(fs.readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}

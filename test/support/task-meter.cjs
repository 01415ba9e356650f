// Loaded into a server under test (node --require): reports how much processor time the longest event
// loop task took since the last report. Processor time, as a loaded machine makes every task long; without what the
// host of a virtual machine took meanwhile, which the kernel counts as ours. A connection to the socket that
// BINNACLE_TASK_METER names gets `{"longestMs":…,"totalMs":…}`, and the count begins anew. At the socket of that name
// with `.memory` it is `{"keptMib":…}`: what is still used when the garbage is gone, which the memory of the process
// says nothing of. With `.collections` it is `{"full":…,"young":…}`: how often V8 has collected the whole heap, and the
// young objects alone.
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const { constants, PerformanceObserver } = require('node:perf_hooks');
const v8 = require('node:v8');
const vm = require('node:vm');

const INTERVAL_MS = 2;
const STOLEN_COLUMN = 8;
const TICK_MS = 10;
const path = process.env['BINNACLE_TASK_METER'];
delete process.env['BINNACLE_TASK_METER'];
if (path !== undefined) {
  meter();
  serveMemory();
  serveCollections();
}

function meter() {
  const file = fs.openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  const usedMs = () => Number(bytes.latin1Slice(0, fs.readSync(file, bytes, 0, 64, 0)).split(' ', 1)[0]) / 1e6;
  const stolenMs = stolenMeter();
  let last = usedMs();
  let first = last;
  let lastStolen = stolenMs();
  let longestMs = 0;
  const look = () => {
    const now = usedMs();
    const stolen = stolenMs();
    // On which processor the task ran is not known: the one that lost most.
    const lost = Math.max(...stolen.map((ms, i) => ms - lastStolen[i]));
    longestMs = Math.max(longestMs, now - last - lost);
    last = now;
    lastStolen = stolen;
  };
  setInterval(look, INTERVAL_MS).unref();
  const server = net.createServer((socket) => {
    look();
    socket.on('error', () => undefined);
    socket.end(JSON.stringify({ longestMs, totalMs: last - first }));
    first = last;
    longestMs = 0;
  });
  server.listen(path).unref();
}

function serveMemory() {
  v8.setFlagsFromString('--expose-gc');
  const collect = vm.runInNewContext('gc');
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    collect();
    const { heapUsed, external } = process.memoryUsage();
    socket.end(JSON.stringify({ keptMib: (heapUsed + external) / 2 ** 20 }));
  });
  server.listen(`${path}.memory`).unref();
}

function serveCollections() {
  const count = { full: 0, young: 0 };
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count.full++;
      else if (detail.kind === constants.NODE_PERFORMANCE_GC_MINOR) count.young++;
    }
  }).observe({ entryTypes: ['gc'] });
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(JSON.stringify(count));
  });
  server.listen(`${path}.collections`).unref();
}

/** Returns a function that reads the time stolen from each processor since the machine started. */
function stolenMeter() {
  const file = fs.openSync('/proc/stat', 'r');
  const bytes = Buffer.alloc(16 * 1024);
  return () => {
    const text = bytes.latin1Slice(0, fs.readSync(file, bytes, 0, bytes.length, 0));
    const processors = text.split('\n').filter((line) => /^cpu[0-9]/.test(line));
    return processors.map((line) => Number(line.split(' ')[STOLEN_COLUMN]) * TICK_MS);
  };
}

// Loaded into a server that is measured (node --expose-gc --require): on SIGUSR2 it collects what is not needed any more,
// and writes what is left, in bytes, as JSON into the file that BINNACLE_MEMORY_FILE names.
'use strict';
const fs = require('node:fs');
const { isMainThread } = require('node:worker_threads');

const file = process.env['BINNACLE_MEMORY_FILE'];
if (isMainThread && file !== undefined) process.on('SIGUSR2', () => void report());

async function report() {
  // What is freed in one event loop iteration may hold what the next collection finds.
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { heapUsed, external } = process.memoryUsage();
  fs.writeFileSync(`${file}.new`, JSON.stringify({ heapUsed, external }));
  fs.renameSync(`${file}.new`, file);
}

// What a test process runs: `node run-files.cjs BUNDLE FILE...`. Each file is a suite of its own name, so that its hooks
// are for its own tests alone and what fails is known by its file. What a file mocks for good is restored after it. A file
// that starts itself as another process says so with BINNACLE_LOAD_ONLY: it is loaded, and nothing is a test. A file that hangs
// ends the process, by name; its others are then run again without it (tools/test.mjs). So does what a test that failed left open.
'use strict';
const path = require('node:path');
const { after, before, describe, mock } = require('node:test');

/** Three times what the slowest takes beside a busy machine. */
const MAX_FILE_MS = 5 * 60_000;
/** After the last test. */
const MAX_END_MS = 20_000;

const [bundle, ...names] = process.argv.slice(2);
const { load } = require(path.resolve(bundle));
if (process.env['BINNACLE_LOAD_ONLY'] !== undefined) names.forEach((name) => load[name]());
else names.forEach(suite);
let left = names.length;

function suite(name) {
  describe(name, () => {
    let timer;
    // Taken before a test can replace it by a clock of its own.
    const { setTimeout, clearTimeout } = globalThis;
    before(() => {
      timer = setTimeout(() => {
        console.error(`${name} hangs: it has not ended after ${MAX_FILE_MS / 60_000} minutes`);
        process.exit(1);
      }, MAX_FILE_MS);
    });
    load[name]();
    after(() => {
      clearTimeout(timer);
      mock.restoreAll();
      if (--left === 0) setTimeout(endNow, MAX_END_MS).unref();
    });
  });
}

function endNow() {
  console.error(`all tests are over, and ${process.getActiveResourcesInfo().join(', ')} keep the process`);
  process.exit(1);
}

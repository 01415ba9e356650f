// What a test process runs: `node run-files.cjs BUNDLE FILE...`. Each file is a suite of its own name, so that its hooks
// are for its own tests alone and what fails is known by its file. What a file mocks for good is restored after it. A file
// that starts itself as another process says so with BINNACLE_LOAD_ONLY: it is loaded, and nothing is a test.
'use strict';
const path = require('node:path');
const { after, describe, mock } = require('node:test');

const [bundle, ...names] = process.argv.slice(2);
const { load } = require(path.resolve(bundle));
if (process.env['BINNACLE_LOAD_ONLY'] !== undefined) names.forEach((name) => load[name]());
else names.forEach(suite);

function suite(name) {
  describe(name, () => {
    load[name]();
    after(() => mock.restoreAll());
  });
}

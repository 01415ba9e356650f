// What a test process runs: `node run-files.cjs BUNDLE FILE...`. Each file is a suite of its own name, so that its hooks
// are for its own tests alone and what fails is known by its file. What a file mocks for good is restored after it.
'use strict';
const path = require('node:path');
const { after, describe, mock } = require('node:test');

const [bundle, ...names] = process.argv.slice(2);
const { load } = require(path.resolve(bundle));
for (const name of names) {
  describe(name, () => {
    load[name]();
    after(() => mock.restoreAll());
  });
}

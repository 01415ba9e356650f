import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from '../../lib/turns.js';
import { catalogueTypeNames } from '../catalogue.js';
import { createDefinitions, type DefinitionOptions } from './definitions.js';
import { printCatalogue, readPrintedCatalogue } from './printed-catalogue.js';

for (const form of ['v2', 'v3'] as const) {
  test(`what was printed of the catalogue is what is printed of it later: ${form}`, () => {
    const options: DefinitionOptions = { form, enums: true };
    const printed = readPrintedCatalogue(Buffer.from(printCatalogue(options)));
    const all = (more: Partial<DefinitionOptions>): ReadonlyMap<string, string> =>
      atOnce(createDefinitions({ ...options, ...more })(catalogueTypeNames()));
    const later = all({});
    assert.deepEqual(all({ printed: (name) => printed.get(name) }), later);
    assert.equal(printed.size, later.size);
  });
}

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runSync } from '../../lib/scheduling/yield.js';
import { catalogueTypeNames } from '../catalogue.js';
import { createDefinitions, type DefinitionOptions } from './definitions.js';
import { encodeCatalogue, readEncodedCatalogue } from './encoded-catalogue.js';

for (const form of ['v2', 'v3'] as const) {
  test(`what the build encoded of the catalogue is what is encoded later: ${form}`, () => {
    const options: DefinitionOptions = { form, enums: true };
    const encoded = readEncodedCatalogue(Buffer.from(encodeCatalogue(options)));
    const all = (more: Partial<DefinitionOptions>): ReadonlyMap<string, string> =>
      runSync(createDefinitions({ ...options, ...more })(catalogueTypeNames()));
    const later = all({});
    assert.deepEqual(all({ encoded: (name) => encoded.get(name) }), later);
    assert.equal(encoded.size, later.size);
  });
}

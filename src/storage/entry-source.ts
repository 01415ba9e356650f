// What all entries of one resource share.
import { LabelSets } from './label-sets.js';
import type { ResourceStoreOptions } from './store.js';

export class EntrySource {
  readonly labelSets = new LabelSets();
  /** Where the indexed field stands in an object. */
  readonly indexedPath: readonly string[] | undefined;

  constructor(readonly options: ResourceStoreOptions) {
    this.indexedPath = options.indexedField?.split('.');
  }
}

// What documents say of built-in types, encoded when the server is built: a start would need all of the catalogue for it.
//
//   io.k8s.api.core.v1.Pod ⇥ io.k8s.api.core.v1.PodSpec io.k8s.… ⇥ "io.k8s.api.core.v1.Pod":{…}
//
// a line each: the name, those it refers to, and what stands in the document. None of them has a tab or an end of line.
import { append } from '../../lib/values/append.js';
import { catalogueTypeNames } from '../catalogue.js';
import { type Definition, type DefinitionOptions, encodedType } from './definitions.js';

export function encodeCatalogue(options: DefinitionOptions): string {
  const encoded = new Map<string, Definition>();
  const open = catalogueTypeNames();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (encoded.has(name)) continue;
    const definition = encodedType(name, options);
    encoded.set(name, definition);
    append(open, definition.references);
  }
  return Array.from(encoded, ([name, { references, text }]) => `${name}\t${references.join(' ')}\t${text}\n`).join('');
}

export function readEncodedCatalogue(bytes: Buffer): Map<string, Definition> {
  const encoded = new Map<string, Definition>();
  let at = 0;
  for (let end = bytes.indexOf('\n'); end >= 0; end = bytes.indexOf('\n', at)) {
    // Line by line, so that one character beyond ASCII does not make all others twice as large.
    const [name = '', references = '', text = ''] = bytes.toString('utf8', at, end).split('\t');
    encoded.set(name, { text, references: references === '' ? [] : references.split(' ') });
    at = end + 1;
  }
  return encoded;
}

import fs from 'node:fs';
import path from 'node:path';
import type { Definition } from '../../schema/openapi/definitions.js';
import type { SchemaForm } from '../../schema/openapi/json-schema.js';
import { readEncodedCatalogue } from '../../schema/openapi/encoded-catalogue.js';

/** What tools/build.mjs encoded beside the bundle. An optimization only: without it, documents take longer to make. */
export const encodedDefinitions =
  (folder: string) =>
  (form: SchemaForm): Map<string, Definition> | undefined => {
    try {
      return readEncodedCatalogue(fs.readFileSync(path.join(folder, `definitions-${form}.txt`)));
    } catch {
      return undefined;
    }
  };

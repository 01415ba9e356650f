import type { Library } from '../library.js';
import { STRING } from '../type.js';

export const jsonPatchLibrary: Library = {
  name: 'kubernetes.jsonpatch',
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      overloads: [
        {
          id: 'string_jsonpatch_escapeKey_string',
          parameters: [STRING],
          result: STRING,
          call: (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
        },
      ],
    },
  ],
};

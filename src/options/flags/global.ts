import { PROGRAM } from '../../machinery/names.js';
import { defineTopic } from '../flag-table.js';

export const global = defineTopic({
  key: 'global',
  title: 'global',
  flags: {
    help: { type: 'bool', short: 'h', help: `Show this help for ${PROGRAM}.` },
    version: {
      type: 'version',
      help: 'Print the version and leave; --version=raw prints all of it. --version=vX.Y.Z... serves, and reports that version.',
    },
  },
});

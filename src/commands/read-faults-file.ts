import fs from 'node:fs';
import { errorText } from '../lib/text/error-text.js';
import { parseYaml } from '../schema/yaml/parse.js';
import type { FaultSettings } from '../testkit/library/types.js';
import { CommandFailure } from './command.js';

/** As it is: who makes the faults judges it. */
export function readFaultsFile(file: string): FaultSettings {
  try {
    return parseYaml(fs.readFileSync(file, 'utf8')).value as FaultSettings;
  } catch (error) {
    throw new CommandFailure(`${file}: ${errorText(error)}`, { cause: error });
  }
}

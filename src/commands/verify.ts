import type { Command } from './command.js';

export const verify: Command = {
  name: 'verify',
  summary: 'checks the data folder of a stopped server',
  usage: ['verify [DIR]   by default the folder that a server has without --data-dir'],
  about: `Reads everything in the data folder of a stopped server and compares it with its checksums. Nothing is changed.

The exit code is 0 for a sound store and 1 for a damaged one.`,
  topics: [],
  words: [],
  async run(args, parts) {
    const { runVerifyCommand } = await import('../server/storage/verify-command.js');
    return runVerifyCommand(args, parts);
  },
};

import { CommandLineMistake } from '../options/parse-flags.js';
import { closestName } from '../options/closest-flag.js';
import { type Command, EXIT } from './command.js';
import { allHelp, commandHelp } from './help-text.js';

export const help = (commands: () => readonly Command[]): Command => ({
  name: 'help',
  summary: 'lists the commands, or tells all about one',
  usage: ['help [COMMAND]'],
  about: 'Lists the commands, or tells all about one.',
  topics: [],
  get words() {
    return commands().map(({ name }) => name);
  },
  async run([name, ...more], { print, columns }) {
    if (name === undefined) {
      print(allHelp(commands()));
      return EXIT.done;
    }
    const command = commands().find((one) => one.name === name);
    if (command === undefined || more.length > 0) {
      const meant = closestName(name, this.words);
      const hint = command === undefined && meant !== undefined ? `\nDid you mean ${meant}?` : '';
      throw new CommandLineMistake(`there is no help for ${[name, ...more].join(' ').slice(0, 200)}${hint}`);
    }
    print(commandHelp(command, columns));
    return EXIT.done;
  },
});

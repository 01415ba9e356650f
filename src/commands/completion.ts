import { CommandLineMistake } from '../options/parse-flags.js';
import { type Command, EXIT } from './command.js';
import { bashScript, fishScript, zshScript } from './completion-scripts.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;
const isShell = (word: string | undefined): word is keyof typeof SCRIPTS =>
  word !== undefined && Object.hasOwn(SCRIPTS, word);

export const completion = (commands: () => readonly Command[]): Command => ({
  name: 'completion',
  summary: 'prints the completion of commands and flags for bash, zsh or fish',
  usage: ['completion bash|zsh|fish'],
  about: `Prints a script by which a shell completes commands and flags:

  source <(binnacle completion bash)                                       in ~/.bashrc
  binnacle completion zsh > "\${fpath[1]}/_binnacle"                        once
  binnacle completion fish > ~/.config/fish/completions/binnacle.fish      once`,
  topics: [],
  words: Object.keys(SCRIPTS),
  async run([shell, ...more], { print }) {
    if (!isShell(shell) || more.length > 0) throw new CommandLineMistake('name one shell: bash, zsh or fish');
    print(SCRIPTS[shell](commands()));
    return EXIT.done;
  },
});

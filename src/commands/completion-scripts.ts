// Scripts by which shells complete `binnacle …`. All words are written into them: a script that called the program at every
// key would be slower than typing.
import { FLAG_KINDS, type FlagKind } from '../options/flag-kinds.js';
import type { FlagSpec } from '../options/flag-table.js';
import { visibleFlags } from '../options/help.js';
import { TOPICS } from '../options/topics.js';
import type { Command } from './command.js';

export function bashScript(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) => `    ${command.name}) words='${[...command.words, ...flagWords(command)].join(' ')}' ;;`,
  );
  return `# Completion of binnacle for bash. A flag that takes a value ends with = and completes file names behind it.
_binnacle() {
  local current=\${COMP_WORDS[COMP_CWORD]} words
  COMPREPLY=()
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    -*) words='${flagWords(SERVER).join(' ')}' ;;
    *) words= ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ] && [[ $current != -* ]]; then words='${names(commands).join(' ')}'; fi
  if [ "$current" = = ] || [ "\${COMP_WORDS[COMP_CWORD - 1]}" = = ]; then return; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _binnacle binnacle
`;
}

export function zshScript(commands: readonly Command[]): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''").replaceAll(':', '\\:')}'`;
  const cases = commands.map((command) => {
    const flags = flagsOf(command).map(([name, spec]) => quoted(`--${name}${takesValue(spec) ? '=' : ''}`));
    const words = command.words.length === 0 ? '' : `compadd -- ${command.words.join(' ')}; `;
    return `    ${command.name}) ${words}compadd -S '' -- ${flags.join(' ')} ;;`;
  });
  const list = commands.map(({ name, summary }) => `    ${quoted(name).slice(0, -1)}:${quoted(summary).slice(1)}`);
  return `#compdef binnacle
# Completion of binnacle for zsh. A flag that takes a value ends with = and completes file names behind it.
_binnacle() {
  if [[ $words[CURRENT] == --*=* ]]; then compset -P '*='; _files; return; fi
  if (( CURRENT == 2 )) && [[ $words[CURRENT] != -* ]]; then
    local -a all=(
${list.join('\n')}
    )
    _describe command all
    return
  fi
  case $words[2] in
${cases.join('\n')}
    -*) compadd -S '' -- ${flagWords(SERVER).join(' ')} ;;
  esac
}
if [ "$funcstack[1]" = _binnacle ]; then _binnacle "$@"; else compdef _binnacle binnacle; fi
`;
}

export function fishScript(commands: readonly Command[]): string {
  const quoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  const lines = ['# Completion of binnacle for fish.', `set -l all ${names(commands).join(' ')}`];
  for (const { name, summary } of commands) {
    lines.push(`complete -c binnacle -n "not __fish_seen_subcommand_from $all" -f -a ${name} -d ${quoted(summary)}`);
  }
  for (const command of commands) {
    const when = `complete -c binnacle -n "__fish_seen_subcommand_from ${command.name}"`;
    if (command.words.length > 0) lines.push(`${when} -f -a ${quoted(command.words.join(' '))}`);
    for (const [name, spec] of flagsOf(command)) lines.push(`${when} -l ${name}${takesValue(spec) ? ' -r' : ''}`);
  }
  return `${lines.join('\n')}\n`;
}

const names = (commands: readonly Command[]): string[] => commands.map(({ name }) => name);

/** Without a command it is the server. */
const SERVER = { topics: TOPICS } as const;
type Flagged = Pick<Command, 'topics' | 'passesOn'>;

const flagsOf = ({ topics, passesOn = [] }: Flagged): [string, FlagSpec][] =>
  [...topics, ...passesOn].flatMap(visibleFlags);

const flagWords = (command: Flagged): string[] =>
  flagsOf(command).map(([name, spec]) => `--${name}${takesValue(spec) ? '=' : ''}`);

const takesValue = ({ type }: FlagSpec): boolean => (FLAG_KINDS[type] as FlagKind<unknown>).bare === undefined;

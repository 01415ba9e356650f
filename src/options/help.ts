// `--help`: every flag that is not hidden, by topic, with its text wrapped to the terminal.
import { append } from '../lib/append.js';
import { PROGRAM } from '../machinery/names.js';
import { FLAG_KINDS, type FlagKind } from './flag-kinds.js';
import type { FlagSpec, Topic } from './flag-table.js';

const ABOUT =
  'Binnacle serves the Kubernetes API: it checks, keeps and hands out the objects of a cluster (pods, services and all the others), and is what every other part of the cluster talks to and through.';

/** The flag's name is on a line of its own, its text indented below it: readable at any width. */
const TEXT_INDENT = 8;
const MIN_WIDTH = 40;

export function helpText(topics: readonly Topic[], width: number): string {
  const columns = Math.max(width, MIN_WIDTH);
  const lines = [...wrap(ABOUT, columns), '', 'Usage:', `  ${PROGRAM} [flags]`];
  for (const topic of topics) {
    lines.push('', `${topic.title.slice(0, 1).toUpperCase()}${topic.title.slice(1)} flags:`, '');
    for (const [name, spec] of visibleFlags(topic)) {
      lines.push(`  ${signature(name, spec)}${shownDefault(spec)}`);
      append(
        lines,
        wrap(fullHelp(spec), columns - TEXT_INDENT).map((line) => ' '.repeat(TEXT_INDENT) + line),
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

export const visibleFlags = (topic: Topic): [string, FlagSpec][] =>
  Object.entries(topic.flags).filter(([, spec]) => spec.hidden !== true);

export const fullHelp = ({ help, deprecated }: FlagSpec): string =>
  deprecated === undefined ? help : `${help} (DEPRECATED: ${deprecated})`;

/** What is shown of a flag's default; empty when it has none worth showing. */
export function defaultText(spec: FlagSpec): string {
  const kind = FLAG_KINDS[spec.type] as FlagKind<unknown>;
  return spec.default === undefined ? '' : kind.show(spec.default);
}

function signature(name: string, spec: FlagSpec): string {
  const short = spec.short === undefined ? '    ' : `-${spec.short}, `;
  const word = FLAG_KINDS[spec.type].word;
  return `${short}--${name}${word === '' ? '' : ` ${word}`}`;
}

function shownDefault(spec: FlagSpec): string {
  const text = defaultText(spec);
  return text === '' ? '' : ` (default ${text})`;
}

function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

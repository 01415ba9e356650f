// `--help`: every flag that is not hidden, by topic. Where the terminal's width is known a flag's text stands below its
// name, wrapped; where it is not, beside it in one line, for programs to read.
import { append } from '../lib/values/append.js';
import { PROGRAM } from '../machinery/names.js';
import { FLAG_KINDS, type FlagKind } from './flag-kinds.js';
import type { FlagSpec, Topic } from './flag-table.js';

const ABOUT = `Binnacle serves the Kubernetes API: it checks, keeps and hands out the objects of a
cluster (pods, services and all the others), and is what every other part of the
cluster talks to and through.`;

/** To a terminal narrower than this nothing is wrapped. */
const MIN_WIDTH = 40;
const TEXT_INDENT = 16;
/** How far a last word may reach beyond where lines are wrapped. */
const SLOP = 5;

/** `width` is 0 where there is no terminal. */
export function helpText(topics: readonly Topic[], width: number): string {
  const lines = [...ABOUT.split('\n'), '', 'Usage:', `  ${PROGRAM} [flags]`];
  for (const topic of topics) append(lines, ['', ...flagLines(topic, width)]);
  return `${lines.join('\n')}\n`;
}

/** The flags of a topic below its title. */
export const flagLines = (topic: Topic, width: number): string[] => [
  `${topic.title.slice(0, 1).toUpperCase()}${topic.title.slice(1)} flags:`,
  '',
  ...(width >= MIN_WIDTH ? wrapped(topic, width) : beside(topic)),
];

/** Names are filled up with spaces nearly to the width, as kube-apiserver does. */
function wrapped(topic: Topic, width: number): string[] {
  const nameWidth = Math.max(width - NAME_MARGIN, longestOf(topic) + 1);
  return visibleFlags(topic).flatMap(([name, spec]) => [
    `${signature(name, spec).padEnd(nameWidth)}  `,
    ...wrap(textOf(spec), width - TEXT_INDENT).map((line) => ' '.repeat(TEXT_INDENT) + line),
  ]);
}

const NAME_MARGIN = 11;

function beside(topic: Topic): string[] {
  const longest = longestOf(topic);
  return visibleFlags(topic).map(([name, spec]) => `${signature(name, spec).padEnd(longest)}   ${textOf(spec)}`);
}

const longestOf = (topic: Topic): number =>
  visibleFlags(topic).reduce((longest, [name, spec]) => Math.max(longest, signature(name, spec).length), 0);

const textOf = (spec: FlagSpec): string => {
  const shown = defaultText(spec);
  const text = spec.help + (shown === '' ? '' : ` (default ${shown})`);
  return spec.deprecated === undefined ? text : `${text} (DEPRECATED: ${spec.deprecated})`;
};

export const visibleFlags = (topic: Topic): [string, FlagSpec][] =>
  Object.entries(topic.flags)
    .filter(([, spec]) => spec.hidden !== true)
    .sort(([a], [b]) => (a < b ? -1 : 1));

export const fullHelp = ({ help, deprecated }: FlagSpec): string =>
  deprecated === undefined ? help : `${help} (DEPRECATED: ${deprecated})`;

/** What is shown of a flag's default; empty when it has none worth showing. */
export function defaultText(spec: FlagSpec): string {
  const kind = FLAG_KINDS[spec.type] as FlagKind<unknown>;
  return spec.default === undefined ? '' : kind.show(spec.default);
}

function signature(name: string, spec: FlagSpec): string {
  const short = spec.short === undefined ? '      ' : `  -${spec.short}, `;
  const word = FLAG_KINDS[spec.type].word;
  return `${short}--${name}${word === '' ? '' : ` ${word}`}`;
}

/** A line ends before the last word that would reach beyond; what then is left may do so a little. */
function wrap(text: string, columns: number): string[] {
  const width = columns - SLOP;
  const lines: string[] = [];
  let rest = text;
  while (columns <= rest.length) {
    const at = rest.lastIndexOf(' ', width - 1);
    if (at <= 0) break;
    lines.push(rest.slice(0, at));
    rest = rest.slice(at + 1);
  }
  return rest === '' ? lines : [...lines, rest];
}

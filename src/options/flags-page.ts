// The reference page of all flags, as Markdown.
import { featureGateNames, featureStateAt } from '../machinery/feature-gates.js';
import { KUBELET_WORDS, RELEASE, STORE_WORDS } from '../machinery/names.js';
import { ADMISSION_PLUGIN_DEFAULTS } from './admission-plugins.js';
import { FLAG_KINDS } from './flag-kinds.js';
import type { FlagSpec, Topic } from './flag-table.js';
import { defaultText, fullHelp, visibleFlags } from './help.js';
import { TOPICS } from './topics.js';

export function flagsPage(): string {
  return [INTRODUCTION, ...TOPICS.map(topicSection), pluginSection(), gateSection()].join('\n');
}

const INTRODUCTION = `# Flags

Made from the tables in \`src/options/flags/\` by \`node tools/generate-flag-docs.mjs\`; change those, not this page.

A flag is written \`--name=value\` or \`--name value\`; one without a type is a switch, \`--name\` or \`--name=false\`.
Lists take commas or the flag several times. Durations are written \`300ms\`, \`5s\`, \`1h30m\`. Words may be joined by
\`_\` as well as \`-\`. Flags that begin with \`${STORE_WORDS.platform}-\` may begin with \`${STORE_WORDS.neutral}-\`, those with \`${KUBELET_WORDS.platform}-\` with \`${KUBELET_WORDS.neutral}-\`.
`;

function topicSection(topic: Topic): string {
  const rows = visibleFlags(topic).map(([name, spec]) => flagRow(name, spec));
  return [
    `## ${capital(topic.title)}`,
    '',
    '| Flag | Type | Default | Meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function flagRow(name: string, spec: FlagSpec): string {
  const flag = spec.short === undefined ? `\`--${name}\`` : `\`-${spec.short}\`, \`--${name}\``;
  const shown = defaultText(spec);
  const cells = [flag, FLAG_KINDS[spec.type].word, shown === '' ? '' : `\`${shown}\``, fullHelp(spec)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function pluginSection(): string {
  const rows = Object.entries(ADMISSION_PLUGIN_DEFAULTS).map(([name, on]) => `| ${name} | ${on ? 'on' : 'off'} |`);
  return ['## Admission plugins', '', '| Plugin | Default |', '|---|---|', ...rows, ''].join('\n');
}

function gateSection(): string {
  const rows = featureGateNames()
    .map((name) => ({ name, state: featureStateAt(name, RELEASE) }))
    .filter(({ state }) => state.stage === 'alpha' || state.stage === 'beta')
    .map(({ name, state }) => `| ${name} | ${state.stage} | ${state.default ? 'on' : 'off'} |`);
  const heading = ['## Feature gates', '', `Those that may be changed, at ${RELEASE.major}.${RELEASE.minor}.`, ''];
  return [...heading, '| Gate | Stage | Default |', '|---|---|---|', ...rows, ''].join('\n');
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

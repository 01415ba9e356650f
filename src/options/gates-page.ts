// The reference page of all feature gates, as Markdown.
import { type FeatureGate, featureGateNames, featureStateAt } from '../machinery/feature-gates.js';
import { RELEASE } from '../machinery/names.js';
import { GATE_EFFECTS } from './gate-effects.js';

const OLDEST_MINOR = 31;
const MINORS = Array.from({ length: RELEASE.minor - OLDEST_MINOR + 1 }, (_, i) => OLDEST_MINOR + i);

export function gatesPage(): string {
  const heads = MINORS.map((minor) => `${RELEASE.major}.${minor}`);
  return [
    INTRODUCTION,
    `| Gate | ${heads.join(' | ')} | What it does here |`,
    `|---|${'---|'.repeat(heads.length)}---|`,
    ...featureGateNames().map(row),
    '',
  ].join('\n');
}

const INTRODUCTION = `# Feature gates

Made from \`src/machinery/feature-gate-history.ts\` and \`src/options/gate-effects.ts\` by
\`node tools/generate-gate-docs.mjs\`; change those, not this page.

The columns are the releases \`--emulated-version\` can name: a gate's default there, its stage, and whether it is locked,
that is, cannot be set to anything else. A dash: the gate did not exist yet. A gate that is *not ours* is accepted, checked
and read by nothing in an API server: it belongs to the part that is named. *One way* says that kube-apiserver does a thing
in two ways and this server in one, without a difference that a client sees.
`;

function row(gate: FeatureGate): string {
  const states = MINORS.map((minor) => stateText(gate, minor));
  return `| ${gate} | ${states.join(' | ')} | ${effectText(gate)} |`;
}

function stateText(gate: FeatureGate, minor: number): string {
  const { stage, default: byDefault, locked } = featureStateAt(gate, { major: RELEASE.major, minor });
  if (stage === 'prealpha') return '–';
  return `${byDefault ? 'on' : 'off'}, ${stage}${locked ? ', locked' : ''}`;
}

function effectText(gate: FeatureGate): string {
  const effect = GATE_EFFECTS[gate];
  switch (effect.kind) {
    case 'in effect':
      return effect.what;
    case 'one way':
      return `*One way:* ${effect.what}`;
    case 'not ours':
      return `*Not ours:* ${effect.owner}.`;
  }
}

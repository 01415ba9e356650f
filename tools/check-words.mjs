// Things have the names that Kubernetes, Node.js, HTTP and etcd have for them, so that a reader finds them by searching.
// This check keeps words out that once stood for them here: in identifiers, comments, texts, tests and pages.
//
//   node tools/check-words.mjs
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

/**
 * `old` is a word, found also within camelCase and UPPER_CASE names, or a phrase where it has a space. `use` is what to
 * write. `except` matches `file: line` where the word has its ordinary meaning, or is another project's own.
 */
const WORDS = [
  { old: ['told', 'untold'], use: 'logged, counted, sent or passed' },
  { old: ['aside', 'asides'], use: 'worker' },
  { old: ['dear', 'dearer', 'dearest', 'dearly'], use: 'expensive' },
  { old: ['patient', 'patiently', 'patience', 'impatient'], use: 'with a budget, or with a worker' },
  { old: ['the original', 'the originals', "the original's"], use: 'kube-apiserver' },
  { old: ['way out', 'ways out'], use: 'egress, or workaround' },
  { old: ['whence', 'whither'], use: 'where from, where to' },
  { old: ['key service', 'key services'], use: 'KMS plugin' },
  // Flags have neutral spellings, too: `--nodeagent-…`.
  { old: ['node agent', "node's agent"], use: 'kubelet', except: /nodeagent/ },
  { old: ['rehearse', 'rehearsed', 'rehearsal'], use: 'dry run' },
  { old: ['seal', 'seals', 'sealed', 'unseal', 'unsealed'], use: 'encrypt, decrypt' },
  // Protobuf has packed lists, npm and dpkg pack files.
  { old: ['packed', 'unpacked'], use: 'gzip, compressed', except: /^(?!src|test)|protobuf\/|pprof|package/ },
  { old: ['remember', 'remembers', 'remembered'], use: 'cache, memoize, keep, index' },
  { old: ['recall', 'recalled', 'recalls'], use: 'load history' },
  { old: ['pretend', 'pretends', 'pretended'], use: 'dry run' },
  { old: ['asker', 'askers'], use: 'client' },
  { old: ['fitted', 'unfitted'], use: 'pruned' },
  { old: ['foundation', 'entrance'], use: 'core, handler' },
  { old: ['breathe', 'breathes', 'breath', 'next turn', 'in turns'], use: 'yield' },
  { old: ['let go', 'lets go', 'letting go'], use: 'release' },
  { old: ['most', 'longest'], use: 'MAX_…', only: 'UPPER_' },
  { old: ['as above', 'see above', 'likewise'], use: 'the contract itself' },
];

/** A comment that begins so is only understood by the one before it. */
const LEANING_COMMENT = /\/\*\* (?:The same(?: for| in| of| with| from|[,;.])|Nor |And )/;

const SKIPPED = [/^tools\/check-words\.mjs$/, /^package-lock\.json$/, /\/fixtures\//, /^LICENSE$/];
const READ = /\.(?:ts|mjs|cjs|js|md|json|types|descriptions|sh|service|txt)$|^bin\/|^\.ci\//;

const rules = WORDS.flatMap(({ old, use, except, only }) =>
  old.map((word) => ({ word, use, except, expression: expressionOf(word, only) })),
);
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
for (const file of listed.split('\n')) {
  if (!READ.test(file) || SKIPPED.some((skipped) => skipped.test(file)) || !fs.existsSync(file)) continue;
  for (const fault of faultsIn(file, fs.readFileSync(file, 'utf8').split('\n'))) {
    console.error(`${file}:${fault}`);
    process.exitCode = 1;
  }
}

function faultsIn(file, lines) {
  const found = [];
  for (const [at, line] of lines.entries()) {
    if (LEANING_COMMENT.test(line)) found.push(`${at + 1}: a comment that leans on another: write the contract itself`);
    for (const { word, use, except, expression } of rules) {
      if (expression.test(line) && except?.test(`${file}: ${line}`) !== true)
        found.push(`${at + 1}: "${word}": write ${use}`);
    }
  }
  return found;
}

function expressionOf(word, only) {
  if (only === 'UPPER_') return new RegExp(`\\b${word.toUpperCase()}_[A-Z]`);
  if (word.includes(' ')) {
    const [first, ...rest] = word.split(' ');
    const inName = [first, ...rest.map((each) => each[0].toUpperCase() + each.slice(1))].join('');
    return new RegExp(`\\b(?:${word.replaceAll(' ', '\\s+')}|${inName})\\b(?!'s)`, 'i');
  }
  const capital = word[0].toUpperCase() + word.slice(1);
  return new RegExp(`(?<![a-z])${word}(?![a-z])|${capital}(?![a-z])|(?<![A-Z])${word.toUpperCase()}(?![A-Z])`);
}

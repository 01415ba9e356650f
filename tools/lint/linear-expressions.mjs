// One thread serves everybody, so no regular expression in src/ may take more than linear time, whatever it is given.
//
// The rule reads every literal and every `new RegExp(…)` made of constants, and has recheck's automaton prove it
// linear. What cannot be proven (a back-reference, a look-ahead, an automaton too large) is refused like what is known
// to backtrack: write a scanner, or a simpler expression. Proofs are kept in .cache, since some take seconds.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const PROOFS = path.join(import.meta.dirname, '../../.cache/linear-expressions.json');
/** Far more than any expression in here needs; only the time of those that are refused. */
const PROOF_TIMEOUT_MS = 120_000;

export default {
  meta: { name: 'binnacle' },
  rules: {
    'linear-expressions': {
      create(context) {
        const constants = new Map();
        const refuse = (node, why) => context.report({ node, message: why });
        const check = (node, pattern, flags) => {
          const why = whyNotLinear(pattern, flags);
          if (why !== undefined) refuse(node, `/${pattern}/${flags} ${why}: write a scanner`);
        };
        return {
          VariableDeclarator(node) {
            if (node.parent.kind === 'const' && node.id.type === 'Identifier' && node.init !== null) {
              constants.set(node.id.name, node.init);
            }
          },
          Literal(node) {
            if (node.regex !== undefined) check(node, node.regex.pattern, node.regex.flags);
          },
          'Program:exit'(program) {
            for (const node of constructions(program)) {
              const [pattern, flags] = node.arguments.map((argument) => fold(argument, constants));
              if (pattern === undefined || (node.arguments.length > 1 && flags === undefined)) {
                refuse(
                  node,
                  'an expression put together at run time cannot be proven linear: write a scanner, or use re2js',
                );
              } else check(node, pattern, flags ?? '');
            }
          },
        };
      },
    },
  },
};

/** Every `RegExp(…)` and `new RegExp(…)`. They are read last, when all constants of the file are known. */
function* constructions(node) {
  if (typeof node?.type !== 'string') return;
  if ((node.type === 'NewExpression' || node.type === 'CallExpression') && node.callee.name === 'RegExp') yield node;
  for (const key of Object.keys(node)) {
    if (key === 'parent') continue;
    const child = node[key];
    if (Array.isArray(child)) for (const item of child) yield* constructions(item);
    else if (typeof child === 'object' && child !== null) yield* constructions(child);
  }
}

/** The text an expression of constants has; undefined when it has anything else in it. */
function fold(node, constants) {
  switch (node?.type) {
    case 'Literal':
      return typeof node.value === 'string' ? node.value : undefined;
    case 'Identifier':
      return fold(constants.get(node.name), constants);
    case 'TaggedTemplateExpression':
      return node.tag.object?.name === 'String' && node.tag.property?.name === 'raw'
        ? foldTemplate(node.quasi, constants, 'raw')
        : undefined;
    case 'BinaryExpression': {
      const [left, right] = [fold(node.left, constants), fold(node.right, constants)];
      return node.operator === '+' && left !== undefined && right !== undefined ? left + right : undefined;
    }
    case 'TemplateLiteral':
      return foldTemplate(node, constants, 'cooked');
    default:
      return undefined;
  }
}

function foldTemplate({ quasis, expressions }, constants, form) {
  let text = quasis[0].value[form];
  for (const [i, expression] of expressions.entries()) {
    const part = fold(expression, constants);
    if (part === undefined) return undefined;
    text += part + quasis[i + 1].value[form];
  }
  return text;
}

let proofs;

/** Undefined when no text can make the expression take more than linear time. */
export function whyNotLinear(pattern, flags) {
  if (!repeatsWithoutEnd(pattern)) return undefined;
  proofs ??= readProofs();
  const key = `/${pattern}/${flags}`;
  if (proofs.has(key)) return undefined;
  const { checkSync } = createRequire(import.meta.url)('recheck/lib/browser.js');
  const { status, complexity, error } = checkSync(pattern, flags, { checker: 'automaton', timeout: PROOF_TIMEOUT_MS });
  if (status === 'vulnerable') return `can backtrack (${complexity.summary})`;
  if (status !== 'safe') return `cannot be proven linear (${error?.message ?? error?.kind})`;
  proofs.add(key);
  writeProofs();
  return undefined;
}

/** Without `*`, `+` and `{n,}` the steps at each place are bounded. */
const repeatsWithoutEnd = (pattern) =>
  /[*+]|\{\d*,\}|\(\?[=!<]|\\\d|\\k/.test(pattern.replace(/\\[^\dk]/g, '_').replace(/\[[^\]]*\]/g, '_'));

function readProofs() {
  try {
    return new Set(JSON.parse(fs.readFileSync(PROOFS, 'utf8')));
  } catch {
    return new Set();
  }
}

function writeProofs() {
  fs.mkdirSync(path.dirname(PROOFS), { recursive: true });
  const written = `${PROOFS}.${process.pid}`;
  fs.writeFileSync(written, JSON.stringify([...proofs]));
  fs.renameSync(written, PROOFS);
}

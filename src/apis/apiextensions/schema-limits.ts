// How much one definition may ask for besides what it is. Each pattern and each rule has its own bounds; a definition may
// have any number, and nothing else runs while they are compiled. The reference has no such limits.
import { validateExpressionAmount } from '../../cel/expression-limits.js';
import { type FieldErrors, type FieldPath, forbidden, tooMany } from '../../machinery/field-error.js';
import type { CustomResourceDefinitionSpec } from '../../schema/generated/apiextensions.v1.js';
import { type Schema, schemasOf, subschemas } from './schema-walk.js';
import { compilePattern, MOST_REMEMBERED_PATTERNS } from './values/pattern.js';

/** Half of what is remembered, so that two definitions do not make each other's patterns forgotten all the time. */
const MOST_PATTERNS = MOST_REMEMBERED_PATTERNS / 2;
const MOST_PATTERN_LETTERS = 64 * 1024;
/** Of all their programs: about a fifth of a second. */
const MOST_INSTRUCTIONS = 200_000;

/** Each is a kind of its own to the server, and each is converted to each. */
const MOST_VERSIONS = 500;

export function validateSchemaLimits(spec: Readonly<CustomResourceDefinitionSpec>, path: FieldPath): FieldErrors {
  const versions = spec.versions?.length ?? 0;
  if (versions > MOST_VERSIONS) return [tooMany(path, versions, MOST_VERSIONS)];
  const patterns = new Set<string>();
  const expressions: string[] = [];
  const open: Schema[] = schemasOf(spec);
  for (let schema = open.pop(); schema !== undefined; schema = open.pop()) {
    if (schema.pattern) patterns.add(schema.pattern);
    for (const { rule, messageExpression = '' } of schema['x-kubernetes-validations'] ?? []) {
      expressions.push(rule, messageExpression);
    }
    for (const inner of subschemas(schema)) open.push(inner);
  }
  return [...validatePatternAmount(patterns, path), ...validateExpressionAmount(expressions, path)];
}

function validatePatternAmount(patterns: ReadonlySet<string>, path: FieldPath): FieldErrors {
  if (patterns.size > MOST_PATTERNS) {
    return [forbidden(path, `has ${patterns.size} patterns, more than the ${MOST_PATTERNS} this server compiles`)];
  }
  let letters = 0;
  for (const pattern of patterns) letters += pattern.length;
  if (letters > MOST_PATTERN_LETTERS) {
    const why = `has patterns of ${letters} characters together, more than the ${MOST_PATTERN_LETTERS} this server compiles`;
    return [forbidden(path, why)];
  }
  let instructions = 0;
  for (const pattern of patterns) {
    const compiled = compilePattern(pattern);
    if ('size' in compiled) instructions += compiled.size;
    if (instructions > MOST_INSTRUCTIONS) {
      return [forbidden(path, 'has patterns that are larger together than this server compiles')];
    }
  }
  return [];
}

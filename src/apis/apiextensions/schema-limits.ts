// How much work one CRD may cause. Each pattern and each rule has its own bounds; a CRD may
// have any number, and nothing else runs while they are compiled. kube-apiserver has no such limits.
import { validateExpressionAmount } from '../../cel/expression-limits.js';
import { type FieldErrors, type FieldPath, forbidden, tooMany } from '../../machinery/field-error.js';
import type { CustomResourceDefinitionSpec } from '../../schema/generated/apiextensions.v1.js';
import { type Schema, schemasOf, subschemas } from './schema-walk.js';
import { compilePattern, MAX_MEMOIZED_PATTERNS } from './values/pattern.js';

/** Half of the cache, so that two CRDs do not keep evicting each other's patterns. */
const MAX_PATTERNS = MAX_MEMOIZED_PATTERNS / 2;
const MAX_PATTERN_CHARACTERS = 64 * 1024;
/** Of all their programs: about a fifth of a second. */
const MAX_INSTRUCTIONS = 200_000;

/** Each is a kind of its own to the server, and each is converted to each. */
const MAX_VERSIONS = 500;

export function validateSchemaLimits(spec: Readonly<CustomResourceDefinitionSpec>, path: FieldPath): FieldErrors {
  const versions = spec.versions?.length ?? 0;
  if (versions > MAX_VERSIONS) return [tooMany(path, versions, MAX_VERSIONS)];
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
  if (patterns.size > MAX_PATTERNS) {
    return [forbidden(path, `has ${patterns.size} patterns, more than the ${MAX_PATTERNS} this server compiles`)];
  }
  let characters = 0;
  for (const pattern of patterns) characters += pattern.length;
  if (characters > MAX_PATTERN_CHARACTERS) {
    const why = `has patterns of ${characters} characters together, more than the ${MAX_PATTERN_CHARACTERS} this server compiles`;
    return [forbidden(path, why)];
  }
  let instructions = 0;
  for (const pattern of patterns) {
    const compiled = compilePattern(pattern);
    if ('size' in compiled) instructions += compiled.size;
    if (instructions > MAX_INSTRUCTIONS) {
      return [forbidden(path, 'has patterns that are larger together than this server compiles')];
    }
  }
  return [];
}

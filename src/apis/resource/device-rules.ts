import { checkExpression, type ExpressionChecker } from '../../cel/expression-check.js';
import { type FieldErrors, type FieldPath, required, tooLong } from '../../machinery/field-error.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { DeviceSelector } from '../../schema/generated/resource.v1.js';
import { validateList } from './collection-rules.js';

/** What the rules of this group depend on beside the object. */
export interface DeviceRules {
  readonly features: FeatureGates;
  /** Checks that selectors compile; undefined without an expression engine. */
  readonly expressions: ExpressionChecker | undefined;
  /** The object's expressions are the ones already stored, so they are judged more gently. */
  readonly stored: boolean;
}

const MAX_SELECTORS = 32;
const MAX_EXPRESSION_BYTES = 10 * 1024;

export const validateSelectors = (
  selectors: readonly DeviceSelector[] | undefined,
  path: FieldPath,
  rules: DeviceRules,
): FieldErrors =>
  validateList(selectors, path, (selector, at) => validateSelector(selector, at.child('cel'), rules), MAX_SELECTORS);

function validateSelector({ cel }: Readonly<DeviceSelector>, path: FieldPath, rules: DeviceRules): FieldErrors {
  if (cel === undefined) return [required(path)];
  const at = path.child('expression');
  if (Buffer.byteLength(cel.expression) > MAX_EXPRESSION_BYTES) return [tooLong(at, MAX_EXPRESSION_BYTES)];
  const consumableCapacity = rules.features.enabled('DRAConsumableCapacity');
  const environment = { use: 'device-selector', consumableCapacity, stored: rules.stored } as const;
  return checkExpression(rules.expressions, { expression: cel.expression, environment, path: at });
}

import type { ExpressionChecker } from '../../cel/expression-check.js';
import type { KindDefinition } from '../../registry/kind.js';
import { customResourceDefinition } from './definition.js';

/** CRDs. Without a checker the expressions in their schemas are kept as they come. */
export const apiextensionsKinds = (checker?: ExpressionChecker): readonly KindDefinition[] => [
  customResourceDefinition(checker),
];

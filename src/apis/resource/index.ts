import type { ExpressionChecker } from '../../cel/expression-check.js';
import type { KindDefinition } from '../../registry/kind.js';
import { deviceClassKind } from './device-class.js';
import { deviceTaintRuleKind } from './device-taint-rule.js';
import { resourceClaimTemplateKind } from './resource-claim-template.js';
import { resourceClaimKind } from './resource-claim.js';
import { resourceSlices } from './resource-slice.js';

/** Devices and the claims on them. Without a checker their selectors are kept uncompiled. */
export const resourceKinds = (expressions?: ExpressionChecker): readonly KindDefinition[] => [
  deviceClassKind(expressions),
  deviceTaintRuleKind(expressions),
  resourceClaimKind(expressions),
  resourceClaimTemplateKind(expressions),
  resourceSlices,
];

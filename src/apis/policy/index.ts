import type { KindDefinition } from '../../registry/kind.js';
import { podDisruptionBudgets } from './pod-disruption-budget.js';

export const policyKinds: readonly KindDefinition[] = [podDisruptionBudgets];

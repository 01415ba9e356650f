import type { KindDefinition } from '../../registry/kind.js';
import { priorityClasses } from './priority-class.js';

export const schedulingKinds: readonly KindDefinition[] = [priorityClasses];

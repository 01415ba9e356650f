import type { KindDefinition } from '../../registry/kind.js';
import { runtimeClasses } from './runtime-class.js';

export const nodeKinds: readonly KindDefinition[] = [runtimeClasses];

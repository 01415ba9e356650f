import type { KindDefinition } from '../../registry/kind.js';
import { groupEvents } from './event.js';

export const eventsKinds: readonly KindDefinition[] = [groupEvents];

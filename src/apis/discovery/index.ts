import type { KindDefinition } from '../../registry/kind.js';
import { endpointSlices } from './endpointslice.js';

export const discoveryKinds: readonly KindDefinition[] = [endpointSlices];

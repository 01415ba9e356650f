import type { KindDefinition } from '../../registry/kind.js';
import { leaseCandidates } from './lease-candidate.js';
import { leases } from './lease.js';

export const coordinationKinds: readonly KindDefinition[] = [leases, leaseCandidates];

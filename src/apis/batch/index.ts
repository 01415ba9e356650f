import type { KindDefinition } from '../../registry/kind.js';
import { cronJobs } from './cronjob/definition.js';
import { jobs } from './job/definition.js';

export const batchKinds: readonly KindDefinition[] = [cronJobs, jobs];

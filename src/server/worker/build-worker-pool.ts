import path from 'node:path';
import { WORKER_MIN_BYTES } from '../../lib/async/worker-pool.js';
import { featureGateNames } from '../../machinery/feature-gates.js';
import type { Options } from '../../options/options.js';
import type { KindOptions } from '../../registry/kind.js';
import { SingleWorkerPool, type SingleWorkerPoolOptions } from './worker-pool.js';

interface WorkerPoolParts extends Pick<SingleWorkerPoolOptions, 'times' | 'log'> {
  readonly kindOptions: KindOptions;
}

export function buildWorkerPool(
  { featureGates, minCompatibleVersion }: Options,
  { kindOptions, ...parts }: WorkerPoolParts,
): SingleWorkerPool {
  return new SingleWorkerPool({
    ...parts,
    file: path.join(__dirname, 'worker.cjs'),
    settings: {
      features: featureGateNames().filter((gate) => featureGates.enabled(gate)),
      compatibility: minCompatibleVersion,
      kindOptions,
    },
    // Tests have everything done there.
    fromBytes: Number(process.env['BINNACLE_WORKER_MIN_BYTES'] ?? WORKER_MIN_BYTES),
  });
}

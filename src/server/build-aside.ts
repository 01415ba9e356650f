import path from 'node:path';
import { featureGateNames } from '../machinery/feature-gates.js';
import type { Options } from '../options/options.js';
import type { KindOptions } from '../registry/kind.js';
import { AsideWorker, type AsideWorkerOptions } from './aside-worker.js';

/** What is smaller takes some tens of milliseconds at the most, where it is. */
const ASIDE_BYTES = 128 * 1024;

interface AsideParts extends Pick<AsideWorkerOptions, 'times' | 'log'> {
  readonly kindOptions: KindOptions;
}

export function buildAside(
  { featureGates, minCompatibleVersion }: Options,
  { kindOptions, ...parts }: AsideParts,
): AsideWorker {
  return new AsideWorker({
    ...parts,
    file: path.join(__dirname, 'aside.cjs'),
    settings: {
      features: featureGateNames().filter((gate) => featureGates.enabled(gate)),
      compatibility: minCompatibleVersion,
      kindOptions,
    },
    // Tests have everything done there.
    fromBytes: Number(process.env['BINNACLE_ASIDE_BYTES'] ?? ASIDE_BYTES),
  });
}

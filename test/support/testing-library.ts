// The library `binnacle/testing` as it was built.
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Cluster, ClusterOptions } from '../../src/testkit/library/types.js';

const root = path.resolve(process.env['BINNACLE_ROOT'] ?? '.');

export interface TestingLibrary {
  readonly startCluster: (options?: ClusterOptions) => Promise<Cluster>;
}

export async function testingLibrary(): Promise<TestingLibrary> {
  return (await import(pathToFileURL(path.join(root, 'dist', 'testing.mjs')).href)) as TestingLibrary;
}

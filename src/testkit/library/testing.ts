// The entry `binnacle/testing`.
export { startCluster } from './start-cluster.js';
export type * from './types.js';

// What the server passes to a worker thread when it starts.
import type { MinorVersion } from '../../machinery/kube-version.js';
import type { KindOptions } from '../../registry/kind.js';

/** What the rules of kinds depend on, beside what they are asked about. */
export interface WorkerSettings {
  /** Those that are on. */
  readonly features: readonly string[];
  readonly compatibility: MinorVersion;
  readonly kindOptions: KindOptions;
}

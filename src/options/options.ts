import type { EmulatedApis } from '../machinery/api-enablement.js';
import type { FeatureGates } from '../machinery/feature-gates.js';
import type { MinorVersion } from '../machinery/kube-version.js';
import type { ServiceRanges } from './service-ranges.js';
import type { Flags } from './topics.js';

/** What the whole server is built from: every flag's value by topic, with what follows from them together. */
export interface Options extends Flags {
  /** The flags that stood on the command line, by name. */
  readonly setFlags: ReadonlySet<string>;
  readonly featureGates: FeatureGates;
  readonly emulatedVersion: MinorVersion;
  readonly minCompatibleVersion: MinorVersion;
  /** With `apiEnablement.runtimeConfig`, what decides which built-in APIs are served. */
  readonly emulatedApis: EmulatedApis;
  /** What `/version` reports as gitVersion. */
  readonly gitVersion: string;
  readonly serviceRanges: ServiceRanges;
  /** `--etcd-servers` is not set: objects are kept in the embedded store in `dataDir`. */
  readonly embeddedStore: boolean;
  readonly dataDir: string;
  /** Files that no flag names and that are generated, once, in `dataDir`. Only with the embedded store. */
  readonly generate: {
    readonly servingCertificate: boolean;
    readonly clientCa: boolean;
    readonly serviceAccountKeys: boolean;
  };
  /** The small in-process controllers to run, in a fixed order. */
  readonly controllers: readonly ControllerName[];
  /** `--workers`: how many processes serve the port. */
  readonly workers: number;
  /** For the log, once it is there. */
  readonly warnings: readonly string[];
}

export const CONTROLLERS = [
  'namespace',
  'garbagecollector',
  'serviceaccount',
  'root-ca-configmap',
  'resourcequota',
  'clusterrole-aggregation',
  'workloads',
] as const;

export type ControllerName = (typeof CONTROLLERS)[number];

/** Those that `*` does not mean: stand-ins, which only tests want. */
export const NAMED_ONLY: ReadonlySet<ControllerName> = new Set(['workloads']);

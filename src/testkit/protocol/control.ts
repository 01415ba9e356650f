// What the two ends of the control socket send each other: JSON over HTTP, on a unix socket that only its owner may open.
//
//   GET    /v1/host                  HostReady
//   POST   /v1/clusters              StartRequest → ClusterFacts
//   GET    /v1/clusters              ClusterFacts[]
//   GET    /v1/clusters/ID           ClusterFacts
//   DELETE /v1/clusters/ID
//   GET    /v1/clusters/ID/audit     audit events
//   POST   /v1/clusters/ID/snapshots           Snapshot
//   GET    /v1/clusters/ID/snapshots           Snapshot[]
//   DELETE /v1/clusters/ID/snapshots/SNAPSHOT
//   POST   /v1/clusters/ID/reset     SnapshotRequest → ResetResult
//   GET    /v1/clusters/ID/faults    FaultsState
//   PUT    /v1/clusters/ID/faults    FaultSettings → FaultsState
//   POST   /v1/clusters/ID/fork      SnapshotRequest → ClusterFacts
//
// An answer that is not 2xx is a ControlFailure.

/** The first line that `binnacle serve-clusters` prints, once its socket is open. */
export interface HostReady {
  readonly control: string;
  readonly pid: number;
}

export interface StartRequest {
  /** Of the server, as on its command line. */
  readonly flags?: readonly string[];
  /** How much of each request is recorded; `None` records nothing. */
  readonly auditLevel?: AuditLevel;
}

export const AUDIT_LEVELS = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type AuditLevel = (typeof AUDIT_LEVELS)[number];

export interface ClusterFacts {
  readonly id: string;
  readonly url: string;
  /** The administrator's, with everything in it. */
  readonly kubeconfig: string;
  readonly kubeconfigPath: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The authority of the serving certificate, in PEM. */
  readonly ca: string;
  /** The server's log. */
  readonly logPath: string;
}

/** A marked state of a cluster. */
export interface SnapshotFacts {
  readonly id: string;
  /** Lists that were answered at this moment have it. */
  readonly resourceVersion: string;
}

export interface SnapshotRequest {
  /** Its id; of a fork that names none the state of this moment. */
  readonly snapshot?: string;
}

export interface ResetResult {
  /** How many objects were created, changed or deleted. */
  readonly changes: number;
}

export interface FaultSettings {
  /** Of the chance by which requests are chosen; 1 where none is named. */
  readonly seed?: number;
  /** None for a server that is well. */
  readonly rules?: readonly FaultRuleSettings[];
}

export interface FaultRuleSettings {
  readonly fault: 'error' | 'slow' | 'stale-list' | 'drop-watch' | 'delay-watch';
  readonly verbs?: readonly string[];
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  readonly share?: number;
  readonly times?: number;
  readonly code?: number;
  readonly retryAfterSeconds?: number;
  readonly after?: boolean;
  readonly delayMs?: number;
  readonly afterMs?: number;
  readonly behind?: number;
}

export interface FaultsState {
  readonly seed: number;
  readonly rules: readonly FaultRuleSettings[];
  /** How often each rule has hit a request. */
  readonly hits: readonly number[];
}

export interface ControlFailure {
  readonly error: string;
}

/** By which commands that `binnacle run` starts find its control socket and its cluster. */
export const CONTROL_VARIABLE = 'BINNACLE_CONTROL';
export const CLUSTER_VARIABLE = 'BINNACLE_CLUSTER';

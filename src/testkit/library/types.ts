// What `import … from 'binnacle/testing'` has, beside startCluster: this file is its declarations as it stands, so that it
// imports nothing.

export interface ClusterOptions {
  /** Flags of the server, as on its command line: `['--feature-gates=…']`. */
  readonly flags?: readonly string[];
  /** The Kubernetes version to be, as `1.33`. */
  readonly emulatedVersion?: string;
  /** Applied before the cluster is handed over. */
  readonly manifests?: Manifests;
  /** Faults that are in force from then on. */
  readonly faults?: FaultSettings;
  /** How much `audit()` has of each request; `Metadata` by default, `None` for nothing. */
  readonly auditLevel?: 'None' | 'Metadata' | 'Request' | 'RequestResponse';
}

export interface Cluster {
  /** `https://127.0.0.1:PORT` */
  readonly url: string;
  /** The administrator's kubeconfig, with everything in it. */
  readonly kubeconfig: string;
  /** The kubeconfig as a file, for `KUBECONFIG`; it is there until the cluster is stopped. */
  readonly kubeconfigPath: string;
  /** The administrator's bearer token. */
  readonly token: string;
  /** The authority of the server's certificate, in PEM. */
  readonly ca: string;
  /** The server's log, until the cluster is stopped. */
  readonly logPath: string;
  /** Applies by server-side apply: CRDs first (and waits until they are served), then namespaces, then the rest. */
  apply(manifests: Manifests): Promise<KubernetesObject[]>;
  /** Resolves with the object once the condition holds; with undefined for one that is deleted. */
  waitFor<T extends KubernetesObject>(
    object: ObjectReference,
    condition: WaitCondition<T>,
    options?: WaitOptions,
  ): Promise<T | undefined>;
  /** A request of the administrator. A body that is not a string is sent as JSON. */
  request(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<ClusterResponse>;
  /** Marks the state of this moment, at no cost. */
  snapshot(): Promise<Snapshot>;
  /** Brings the state back: what differs is written as ordinary changes, of which every watch hears. */
  reset(snapshot: Snapshot): Promise<ResetResult>;
  /** Starts another cluster with the state of the snapshot, or else of this moment. */
  fork(snapshot?: Snapshot): Promise<Cluster>;
  /** Makes requests fail, or late, from now on; without rules all is well again. `apply` and `waitFor` are not hit. */
  setFaults(settings: FaultSettings): Promise<FaultsState>;
  /** The faults in force, and how often each has hit. */
  faults(): Promise<FaultsState>;
  /** The audit events of all requests that have been answered, oldest first. */
  audit(): Promise<AuditEvent[]>;
  /** Ends the server and removes all that it has. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A marked state of one cluster, kept until that is stopped. */
export interface Snapshot {
  readonly id: string;
  /** Lists that were answered at this moment have it. */
  readonly resourceVersion: string;
}

export interface ResetResult {
  /** How many objects were created, changed or deleted. */
  readonly changes: number;
}

export interface FaultSettings {
  /** Of the chance by which requests are chosen; 1 where none is named. The same requests are hit by the same faults. */
  readonly seed?: number;
  /** Tried in their order; several can hit one request. */
  readonly rules?: readonly FaultRule[];
}

export type FaultRule = FaultScope &
  (
    | {
        /** Answers with an error; `after`: the request is done, and only its answer is lost. */
        readonly fault: 'error';
        readonly code: 409 | 410 | 429 | 500 | 503 | 504;
        /** With 429; 1 where none is named. */
        readonly retryAfterSeconds?: number;
        readonly after?: boolean;
      }
    | { readonly fault: 'slow'; readonly delayMs: number }
    /** A list with `resourceVersion=0` is that of so many changes ago; of 100 where none are named. */
    | { readonly fault: 'stale-list'; readonly behind?: number }
    /** A watch ends so long after it began; at once where no time is named. */
    | { readonly fault: 'drop-watch'; readonly afterMs?: number }
    | { readonly fault: 'delay-watch'; readonly delayMs: number }
  );

/** Which requests a fault may hit; any where nothing is named. */
export interface FaultScope {
  /** The API's own: get, list, watch, create, update, patch, delete, deletecollection. */
  readonly verbs?: readonly string[];
  /** As `pods`, `deployments.apps`, `pods/status`. */
  readonly resources?: readonly string[];
  readonly namespaces?: readonly string[];
  /** How many of them, from 0 to 1; all where nothing is named. */
  readonly share?: number;
  /** It hits at most so often. */
  readonly times?: number;
}

export interface FaultsState {
  readonly seed: number;
  readonly rules: readonly FaultRule[];
  /** How often each rule has hit a request. */
  readonly hits: readonly number[];
}

/** A text of YAML or JSON documents, an object, the path of a file or of a folder of files, or several of these. */
export type Manifests = Manifest | readonly Manifest[];
export type Manifest = string | KubernetesObject | { readonly path: string };

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: ObjectMeta;
  readonly [field: string]: unknown;
}

export interface ObjectMeta {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly [field: string]: unknown;
}

export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  /** `default` where the kind has namespaces and none is named. */
  readonly namespace?: string;
}

/** As `kubectl wait --for` has it (`create`, `delete`, `condition=Ready`, `condition=Ready=False`), or a function. */
export type WaitCondition<T extends KubernetesObject = KubernetesObject> =
  | 'create'
  | 'delete'
  | `condition=${string}`
  | ((object: T) => boolean);

export interface WaitOptions {
  /** 10 seconds where none is given. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface ClusterResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body, parsed. */
  json<T = unknown>(): T;
}

export interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestURI: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly objectRef?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code: number; readonly message?: string; readonly reason?: string };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

// A kind as the server knows it: names, versions, rules, columns. Everything particular to a kind is here, as data
// and small functions; the generic life of its objects is in registry.ts.
import type { WorkerRequirement } from '../lib/async/worker-pool.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { Cancellation } from '../lib/async/cancellation.js';
import type { FieldErrors } from '../machinery/field-error.js';
import type { GroupResource } from '../machinery/status.js';
import type { JsonObject, KubeObject, ObjectMeta } from '../machinery/object.js';
import type { LatencyLayer } from '../machinery/request-latency.js';
import type { UserInfo } from '../machinery/user.js';
import type { StructType } from '../schema/type.js';
import type { StoredObject } from '../storage/store.js';
import type { Trace } from '../tracing/trace.js';

export interface KindDefinition<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  /** The kind of its lists, when not `<kind>List`. */
  readonly listKind?: string;
  readonly namespaced: boolean;
  /** The kind is served only while this feature gate is on, whatever versions are enabled. */
  readonly gate?: string;
  /** Served versions, most preferred first. */
  readonly versions: readonly KindVersion<T>[];
  /** Those in which others may still own fields. */
  readonly unservedVersions?: readonly KindVersion<T>[];
  /** The version objects are kept and validated in. */
  readonly storageVersion: string;
  readonly storage?: KindStorage<T>;
  /** Verbs served, when not all of them. */
  readonly verbs?: readonly Verb[];
  /** Verbs shown to clients, in this order, where they differ from those served. */
  shownVerbs?(): readonly Verb[];
  readonly strategy: Strategy<T>;
  readonly subresources?: Readonly<Record<string, Subresource<T>>>;
  readonly selection?: FieldSelection<T>;
  readonly table: TableDefinition<T>;
  /** Metadata for a PartialObjectMetadata answer, where kube-apiserver keeps part of it elsewhere. */
  metadataAlone?(metadata: Readonly<ObjectMeta>): ObjectMeta;
  /** Present for kinds that are answered and not stored. */
  readonly virtual?: VirtualKind<T>;
  /** A kind defined by a CustomResourceDefinition. */
  readonly custom?: boolean;
  /** Of a custom kind: what a worker builds the kind from, and the version that this definition serves. */
  readonly origin?: { readonly requirement: WorkerRequirement; readonly version: string };
  /** What OpenAPI documents say of a custom kind's types, by their names. */
  openApiSchema?(form: 'v2' | 'v3', typeName: string): Readonly<Record<string, unknown>> | undefined;
}

/** How a kind's objects are stored, where that does not follow from its names and versions. */
export interface KindStorage<T extends KubeObject = KubeObject> {
  /** The storage version shown to clients, where kube-apiserver has another. */
  readonly shownVersion?: string;
  /** The shape objects have in a store shared with kube-apiserver, where that is another; both work on plain JSON. */
  readonly shape?: {
    to(object: Readonly<T>): JsonObject;
    from(stored: JsonObject): JsonObject;
  };
  /** The group of the type they are kept and validated as, for a kind that shares another group's objects (events). */
  readonly group?: string;
  /** Changes an object of a version that is served no more where its fields meant something else there. */
  fromFormer?(object: T): void;
  /** Where its keys lie below the store's prefix, when not `<plural>` or `<group>/<plural>` for later groups. */
  readonly keyPrefix?: string;
  /** Converts an object into another of its versions, where a webhook does so. Throws StorageError. */
  convert?(object: Readonly<JsonObject>, apiVersion: string): Promise<JsonObject>;
  /** Seconds a new object lives, for kinds whose objects expire. */
  ttlSeconds?(object: Readonly<T>, context: LifeContext): number | undefined;
}

/** What field selectors can select by. */
export interface FieldSelection<T extends KubeObject = KubeObject> {
  /** Selectable fields beyond metadata.name and metadata.namespace, with an object's values. */
  fields(object: Readonly<T>): Record<string, string>;
  /** One of them that many select by: a string that stands in the object under the names it is made of. */
  readonly indexedField?: string;
  /** Those that are strings standing so, too: they are read without parsing the object. */
  readonly textFields?: readonly string[];
  /** The words for a field that is not selectable, when not `field label not supported: x`. */
  fieldLabelError?(label: string, version: string): string;
}

/** What tables show, as `kubectl get` asks for them. */
export interface TableDefinition<T extends KubeObject = KubeObject> {
  readonly columns: readonly Column[];
  /** The cells of one row, in the order of `columns`. */
  row(object: Readonly<T>, now: Date): readonly Cell[];
  /** The order of rows in a table, when not that of the list. */
  compareRows?(a: Readonly<T>, b: Readonly<T>): number;
  /** Conditions shown beside a row, such as a pod's being completed. */
  rowConditions?(object: Readonly<T>): readonly RowCondition[];
}

/** Either `create` or `objects`. */
export interface VirtualKind<T extends KubeObject = KubeObject> {
  /**
   * For kinds that are answered (access reviews, token reviews): returns the object to send. It replaces the strategy's
   * hooks and storage; mutating admission and defaults come before it.
   */
  create?(object: T, context: LifeContext): Promise<object>;
  /** The answer of `create` may be large, however small the request is. */
  readonly largeAnswers?: boolean;
  /** For kinds that are looked up: all their objects, at this moment. They are served read only. */
  objects?(): Promise<readonly KubeObject[]>;
}

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

export interface KindVersion<T extends KubeObject = KubeObject> {
  readonly version: string;
  /** False for versions that only --runtime-config enables. */
  readonly enabledByDefault?: boolean;
  /** Fills in what a client left out, in this version, before conversion to the storage version. */
  defaults?(object: T): void;
  /** What feature gates have filled in beside. The server makes both one (`behindGates`) before the kind is served. */
  defaultsBehindGates?(object: T, features: FeatureGates): void;
  /** Why kube-apiserver could not bring an object into the form it works on; undefined when it could. */
  unconvertible?(object: Readonly<T>): string | undefined;
  /** Absent when this version has the storage version's shape. Both may change and return their argument. */
  toStorage?(object: T): T;
  fromStorage?(object: T): T;
  /** The type of a kind that is not in the catalogue. */
  readonly type?: StructType;
  /** Sent as a Warning header on every use of this version. */
  readonly deprecationWarning?: string;
  /** The release that has this version no more, where it is known: `1.37`. */
  readonly removedRelease?: string;
}

/** What the rules of a kind may know about the request and the world. */
export interface LifeContext {
  readonly user: UserInfo;
  readonly namespace: string;
  now(): Date;
  readonly features: FeatureGates;
  readonly dryRun: boolean;
  /** When the request must have been answered, in milliseconds since the epoch; absent for the server's own work. */
  readonly deadlineMs?: number;
  /** The waiting client: work for a client that is gone ends. Absent for the server's own work. */
  readonly waiting?: Cancellation | undefined;
  /** Of the request; absent for the server's own work. */
  readonly trace?: Trace | undefined;
  readonly options: KindOptions;
  /** Polled by rules that may run long: once it returns true they throw Interrupted, and a worker runs them. */
  readonly interrupted?: (() => boolean) | undefined;
  /** Looks into other resources of this server. Objects are shared: read only. */
  readonly lookup: Lookup;
  /** Adds a Warning header to the answer. */
  warn(text: string): void;
  /** Records how long the request waited in a layer. Absent for the server's own work. */
  spent?(layer: LatencyLayer, ms: number): void;
}

export interface FeatureGates {
  enabled(name: string): boolean;
}

/** The start-up options that change a kind's rules. */
export interface KindOptions {
  readonly allowPrivileged: boolean;
  readonly eventTtlSeconds: number;
}

export interface Lookup {
  get(resource: GroupResource, namespace: string, name: string): MaybePromise<KubeObject | undefined>;
  /** `newest`: not what is at hand, where others may have written since. */
  list(resource: GroupResource, namespace: string, newest?: boolean): MaybePromise<readonly StoredObject[]>;
}

/**
 * The hooks of a kind on the generic life of an object. All are optional but the two validations. Objects passed as
 * `object` belong to the request and may be changed by the `prepare` hooks; `old` is shared and read only.
 */
export interface Strategy<T extends KubeObject = KubeObject> {
  readonly metadataRules?: MetadataRules;
  /** Clears what a client may not set, sets what the server decides. */
  prepareForCreate?(object: T, context: LifeContext): void;
  validate(object: Readonly<T>, context: LifeContext): FieldErrors;
  warningsOnCreate?(object: Readonly<T>, context: LifeContext): readonly string[];
  prepareForUpdate?(object: T, old: Readonly<T>, context: LifeContext): void;
  validateUpdate(object: Readonly<T>, old: Readonly<T>, context: LifeContext, metadata: MetadataErrors): FieldErrors;
  warningsOnUpdate?(object: Readonly<T>, old: Readonly<T>, context: LifeContext): readonly string[];
  /** Puts equal objects into one form, after validation. */
  canonicalize?(object: T): void;
  /** A stored object as the version sees it that is written through, where what is stored has more. */
  asServed?(stored: Readonly<T>): Readonly<T>;
  /** Brings what everybody has agreed to into the form it is stored in. True when that was another. */
  pruneForStorage?(object: T): boolean;
  /** PUT to a missing name creates it. */
  readonly allowCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites what is there. Default true. */
  readonly allowUnconditionalUpdate?: boolean;
  /**
   * True when the kind has a spec/status split: status is cleared on create and kept on update, and generation starts
   * at 1 and rises when anything outside metadata and status changes. Kinds that do otherwise set their hooks.
   */
  readonly hasStatus?: boolean;
  /** prepareForCreate looks at the status that was sent, and puts another in its place. */
  readonly replacesStatus?: boolean;
  /** True: metadata.generation is managed (default: hasStatus). */
  readonly hasGeneration?: boolean;
  /** An empty list or map that was sent raises the generation each time: it is stored as none. */
  readonly emptyIsChange?: boolean;
  /**
   * The rules of the status subresource. `prepareForUpdate` runs after all members but metadata and status were
   * reset to the old ones; a kind whose status endpoint may not touch labels or owners resets those itself.
   */
  readonly status?: StatusStrategy<T>;
  readonly delete?: DeleteStrategy<T>;
  readonly transaction?: TransactionHooks<T>;
  readonly cost?: RuleCost;
  /** Fields (paths) server-side apply must not let this endpoint own, by endpoint: `''` and each subresource. */
  readonly resetFields?: Readonly<Record<string, readonly string[][]>>;
}

/**
 * Work beside the write itself (allocating addresses, say), begun before `prepare` and validation, so that validation
 * sees what was allocated: `commit` runs once the object is stored, `revert` when the write failed. Called for dry runs
 * too (`context.dryRun`): then nothing may stay.
 */
export interface TransactionHooks<T extends KubeObject = KubeObject> {
  beginCreate?(object: T, context: LifeContext): Promise<Transaction | undefined>;
  beginUpdate?(object: T, old: Readonly<T>, context: LifeContext): Promise<Transaction | undefined>;
  /** What was found out about an object when its write was begun, where the rules go by it. */
  readonly findings?: Findings;
}

/** The rules on metadata, where they are not those of most kinds. */
export interface MetadataRules {
  /** Checks metadata.name; the default is a DNS subdomain. `prefix`: the name is a generateName. */
  validateName?(name: string, prefix: boolean): readonly string[];
  /** A generateName is the name as it stands: no random suffix could follow it. */
  readonly usesGenerateNameAsIs?: boolean;
  /** Finalizers need not be standard or have a domain of their own. */
  readonly anyFinalizer?: boolean;
  /** `validateUpdate` says where errors in metadata stand among its own, and how often. By default changes come first. */
  readonly placedOnUpdate?: boolean;
  /** None of the kind's own rules looks at metadata: its errors show only where nothing else is wrong. */
  readonly checkedLast?: boolean;
}

/** How long the rules of a kind run: it decides which writes go to a worker. */
export interface RuleCost {
  /** The rules are written by users: an object's size does not bound how long they run. */
  readonly mayRunLong?: boolean;
  /** How many times as long the rules run as those of other kinds on an object of this size. Default 1. */
  readonly weight?: number;
  /** How many times as long the rules alone run, which compile expressions that users wrote. Default 1. */
  readonly rulesWeight?: number;
}

/** What is wrong with the metadata of an update. kube-apiserver looks for it several times, and shows it as often. */
export interface MetadataErrors {
  /** By the rules for a new object. */
  readonly whole: FieldErrors;
  /** By the rules for a change. */
  readonly change: FieldErrors;
}

/** Plain data kept by the object: it is sent to the worker that runs the rules. */
export interface Findings {
  of(object: object): object | undefined;
  attach(object: object, found: object): void;
}

export interface StatusStrategy<T extends KubeObject = KubeObject> {
  /** False: no table is made of what this endpoint answers. */
  readonly tables?: boolean;
  /** As `transaction.beginUpdate` of the strategy, for writes through this endpoint. */
  begin?(object: T, old: Readonly<T>, context: LifeContext): Promise<Transaction | undefined>;
  prepareForUpdate?(object: T, old: Readonly<T>, context: LifeContext): void;
  readonly metadataRules?: Pick<MetadataRules, 'placedOnUpdate'>;
  validateUpdate(object: Readonly<T>, old: Readonly<T>, context: LifeContext, metadata: MetadataErrors): FieldErrors;
  warningsOnUpdate?(object: Readonly<T>, old: Readonly<T>, context: LifeContext): readonly string[];
}

export interface DeleteStrategy<T extends KubeObject = KubeObject> {
  /** Runs once an object is gone, to release what it held. */
  after?(object: Readonly<T>, context: LifeContext): Promise<void>;
  /** The propagation an unset policy means. Default: background. */
  readonly defaultGarbageCollection?: 'background' | 'orphan' | 'unsupported';
  /** The warning for a client that sets no propagation policy. */
  readonly unsetPolicyWarning?: string;
  /**
   * For kinds that end gracefully: the grace period in seconds to set on the object, or undefined to delete at once.
   * `requested` is what the client sent.
   */
  gracePeriodSeconds?(object: Readonly<T>, requested: number | undefined): number | undefined;
  /** DELETE answers the deleted object instead of a Status. */
  readonly returnsObject?: boolean;
  /**
   * For kinds that end in phases of their own (namespaces, CRDs): marks the object as terminating. It stays, updated,
   * while this returns `keep`.
   */
  terminate?(object: T, now: Date): 'keep' | 'remove';
  /** The propagation policy does not apply when the object begins to end in phases. */
  readonly dependentsStay?: boolean;
  /** An update that emptied the finalizers of a deleted object removes it, unless this says it must stay. */
  staysAfterUpdate?(object: Readonly<T>): boolean;
  /** Throws a StatusError to refuse whoever names one, there or not. A collection is deleted whatever it says. */
  checkName?(name: string): void;
}

export interface Transaction {
  commit(): Promise<void>;
  revert(): Promise<void>;
}

/**
 * A subresource with rules of its own (`pods/eviction`, `serviceaccounts/token`). `status` and `scale` need no entry
 * here beyond their name: `status` follows from the strategy, `scale` from ScalePaths.
 */
export interface Subresource<T extends KubeObject = KubeObject> {
  /** It is served only while this feature gate is on. */
  readonly gate?: string;
  /** The kind of its body and answer, when not the parent's. */
  readonly group?: string;
  readonly version?: string;
  /** Further versions of the kind that a create accepts. */
  readonly alsoVersions?: readonly string[];
  readonly kind: string;
  readonly verbs: readonly Verb[];
  /** `update`: reads and writes the parent object through these rules (ephemeralcontainers, resize, approval). */
  readonly update?: StatusStrategy<T>;
  /** `scale`: where the replica counts and the selector stand in the parent. */
  readonly scale?: ScaleAccess<T>;
  /** Fills in what a client left out of the body of a create. */
  defaults?(body: KubeObject): void;
  /** `create`: an action on the parent (binding, eviction, token). Answers the object to send and its status code. */
  readonly create?: (action: SubresourceAction) => Promise<{ code: number; object: object }>;
  /** `create` has validating admission look at the object itself, once it is complete: `action.review`. */
  readonly reviewsComplete?: boolean;
  /** Connecting subresources (log, exec, proxy): handled by the connectors in rest/, named here. */
  readonly connect?: string;
}

export interface ScaleAccess<T extends KubeObject = KubeObject> {
  specReplicas(object: Readonly<T>): number;
  setSpecReplicas(object: T, replicas: number): void;
  statusReplicas(object: Readonly<T>): number;
  /** As a label selector in text form; empty when there is none. */
  selector(object: Readonly<T>): string;
  /** Where the wanted replicas stand in each version, when not at spec.replicas in all. */
  readonly replicasPaths?: Readonly<Record<string, readonly string[]>>;
  /** The path of the wanted replicas when they must be set and are not. */
  missing?(object: Readonly<T>): string | undefined;
}

export interface SubresourceAction {
  readonly name: string;
  readonly namespace: string;
  /** The decoded body, in normal form. */
  readonly body: KubeObject;
  readonly context: LifeContext;
  readonly operations: ObjectOperations;
  /** Validating admission, of those that have it look once the object is complete. */
  review(object: KubeObject): MaybePromise<void>;
  /** Puts a note on the request's audit event. */
  annotate(key: string, value: string): void;
}

/** The generic life of other objects, for subresources and plugins that act on them. */
export interface ObjectOperations {
  get(resource: GroupResource, namespace: string, name: string, trace?: Trace): Promise<KubeObject>;
  /** Reads, changes and writes, with retries on conflicts. */
  update(update: ObjectUpdate): Promise<KubeObject>;
  create(resource: GroupResource, namespace: string, object: KubeObject, context: LifeContext): Promise<KubeObject>;
  delete(deletion: ObjectDeletion): Promise<KubeObject>;
}

export interface ObjectUpdate {
  readonly resource: GroupResource;
  readonly namespace: string;
  readonly name: string;
  /** The endpoint whose rules hold: '' or a subresource. */
  readonly subresource: string;
  /** May change and return its argument. */
  readonly change: (object: KubeObject) => KubeObject | Promise<KubeObject>;
  readonly context: LifeContext;
  readonly preconditions?: Preconditions;
}

export interface ObjectDeletion {
  readonly resource: GroupResource;
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  readonly context: LifeContext;
}

/** What the current object must have; an empty member sets no condition. */
export interface Preconditions {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: Preconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  readonly dryRun?: readonly string[];
  readonly ignoreStoreReadErrorWithClusterBreakingPotential?: boolean;
}

export interface RowCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

export type Cell = string | number | boolean | null;

export interface Column {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description: string;
  /** 0 is always shown; above, only in wide output. */
  readonly priority?: number;
}

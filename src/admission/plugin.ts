import type { Level } from '../audit/levels.js';
import type { MaybePromise } from '../lib/async/maybe-promise.js';
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';

export type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** A write on its way in. Plugins that mutate change `object` in place. */
export interface AdmissionAttributes {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Absent on DELETE and CONNECT. In the storage version of its kind. */
  readonly object?: KubeObject;
  /** Absent on CREATE and CONNECT. Shared: read only. */
  readonly old?: Readonly<KubeObject>;
  /** What the request reads and writes, where that is not the object itself but another kind made of it (a scale). */
  readonly view?: AdmissionView;
  /** The options of a CONNECT, an object of the attributes' kind; it has no metadata. */
  readonly connectOptions?: object;
  readonly options?: object;
  readonly context: LifeContext;
  /** For writes that a plugin makes beside the one it looks at. */
  readonly operations: ObjectOperations;
  /** Put on the request's audit event; from a level on, where it is too much for the lower ones. */
  readonly annotate: (key: string, value: string, level?: Level) => void;
}

/** An object seen as one of another kind. */
export interface AdmissionView {
  readonly kind: GroupVersionKind;
  of(object: Readonly<KubeObject>): KubeObject;
  /** Brings what a plugin changed in the view into the object itself. */
  write(object: KubeObject, view: Readonly<KubeObject>): void;
}

/**
 * Plugins that mutate run once, and once more when one whose changes the others did not foresee (a webhook, a policy)
 * requests it. There is no third round.
 */
export interface Round {
  /** True in the second round. */
  readonly again: boolean;
  /** Asks for the second round; in the second, for nothing. */
  requestReinvocation(): void;
  /** What a plugin keeps from the first round for the second, created on first use. */
  notes<T extends object>(plugin: string, make: () => T): T;
}

/** Always answers the same. */
export type LooksAt = (resource: GroupResource, subresource: string) => boolean;

/** What a plugin does about a write. */
export interface AdmissionWork {
  (attributes: AdmissionAttributes, round: Round): MaybePromise<void>;
  /** Whether it looks at writes to this resource, or to this subresource of it: all others pass it unseen. */
  readonly only?: LooksAt;
}

/** One admission plugin. To refuse, it throws a StatusError (mostly `forbidden`). */
export interface AdmissionPlugin {
  readonly name: string;
  readonly handles: (operation: Operation) => boolean;
  readonly admit?: AdmissionWork;
  readonly validate?: AdmissionWork;
}

/** All plugins of a server, in order. */
export interface AdmissionChain {
  /** Lets the plugins that mutate change the object. */
  admit(attributes: AdmissionAttributes): MaybePromise<void>;
  /** Lets the plugins that look at the finished object refuse it. */
  validate(attributes: AdmissionAttributes): MaybePromise<void>;
}

// Watches the CRDs: decides on their names, serves what they define, and finalizes them.
//
// Of a group one CRD is worked on at a time, so that of two that want one name the first gets it:
//
//   created → names decided → served → established … changed → served anew … deleted → objects deleted → gone
import { prefixed } from '../lib/telemetry/prefixed.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { ExpressionChecker } from '../cel/expression-check.js';
import { systemClock } from '../lib/async/clock.js';
import type { WorkerPool } from '../lib/async/worker-pool.js';
import { errorText } from '../lib/text/error-text.js';
import { delayFirstStatus } from '../lib/async/delay-first-status.js';
import { isDeepStrictEqual } from 'node:util';
import { isCaBundle } from '../apis/apiextensions/conversion-validation.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import type { ResourceRegistry } from '../registry/registry.js';
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
} from '../schema/generated/apiextensions.v1.js';
import { startInformer } from '../storage/informer.js';
import type { ResourceStore } from '../storage/store.js';
import { type Condition, decideNames } from './accept-names.js';
import { approvalCondition } from './approval-condition.js';
import { type CustomKind, customKind, type CustomKindOptions } from './custom-kind.js';
import { createDefinitionWriter } from './definition-writer.js';
import { finalizeDefinition, needsFinalizing } from './finalize.js';
import { conditionsOf } from './conditions.worker.js';

export interface CrdControllerOptions {
  /** The store of the CRDs. */
  readonly store: ResourceStore;
  readonly operations: ObjectOperations;
  readonly context: () => LifeContext;
  /** Serves a kind until it is stopped. */
  readonly serve: (kind: CustomKind) => ServedKind;
  /** Compiles the rules of schemas. */
  readonly expressions?: Pick<ExpressionChecker, 'rulesOn' | 'evaluated'>;
  readonly converterOf?: CustomKindOptions['converterOf'];
  /** Where large CRDs are walked. */
  readonly workers?: WorkerPool | undefined;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface ServedKind {
  /** The kind's objects; `built-in` when a kind of the server's own has its objects in their place. */
  readonly objects: ResourceRegistry | 'built-in';
  /** Discovery has to show the kind differently. */
  changed(): void;
  stop(): void;
}

type Crd = Readonly<CustomResourceDefinition>;

interface Serving {
  /** What the kind was made from: it is made anew when this changes. */
  readonly made: { readonly uid: string; readonly generation: number; readonly names: object };
  readonly kind: ServedKind;
  terminating: boolean;
}

const RETRY_MS = 1000;

export interface StartedCrdController {
  /** Resolves once the CRDs that were there at the start are known. */
  readonly synced: Promise<void>;
  /** Resolves once the CRDs that were there at the start are served. */
  readonly served: Promise<void>;
}

export function startCrdController(options: CrdControllerOptions): StartedCrdController {
  const { store, signal, log } = options;
  const crds = new Map<string, Crd>();
  const controller = new CrdController(options, crds);
  const { synced } = startInformer({
    store,
    signal,
    log: prefixed(log, 'custom resource definitions'),
    onUpsert(stored) {
      const crd = stored.object() as unknown as CustomResourceDefinition;
      const known = Number(crds.get(stored.key)?.metadata.resourceVersion ?? 0);
      // Of our own writes the last is known before the watch brings the first.
      if (known < stored.revision) crds.set(stored.key, crd);
      delayFirstStatus(isNew(crd), systemClock, () => controller.look(stored.key));
    },
    onDelete({ key }) {
      crds.delete(key);
      controller.look(key);
    },
  });
  return { synced, served: synced.then(() => controller.idle()) };
}

class CrdController {
  readonly #serving = new Map<string, Serving>();
  readonly #finalizing = new Set<string>();
  readonly #computedFor = new Map<string, string>();
  /** Names that are queued, by group, while the group is worked on. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #working = new Set<Promise<void>>();
  readonly #writer;

  constructor(
    private readonly options: CrdControllerOptions,
    private readonly crds: Map<string, Crd>,
  ) {
    this.#writer = createDefinitionWriter(options);
  }

  /** Queues a CRD for reconciliation. */
  look(name: string): void {
    const group = groupOf(name);
    const waiting = this.#waiting.get(group);
    if (waiting !== undefined) {
      waiting.add(name);
      return;
    }
    this.#waiting.set(group, new Set([name]));
    const work = this.#work(group).finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  /** Resolves when nothing is left to do. */
  async idle(): Promise<void> {
    while (this.#working.size > 0) await Promise.all(this.#working);
  }

  async #work(group: string): Promise<void> {
    const waiting = this.#waiting.get(group) ?? new Set<string>();
    for (const name of waiting) {
      waiting.delete(name);
      if (this.options.signal.aborted) break;
      try {
        await this.#reconcile(name);
      } catch (error) {
        this.#retry(name, error);
      }
    }
    this.#waiting.delete(group);
  }

  #retry(name: string, error: unknown): void {
    const { signal, log } = this.options;
    if (signal.aborted) return;
    log.info(`custom resource definition ${name}: ${errorText(error)}`);
    setTimeout(() => this.look(name), RETRY_MS).unref();
  }

  async #reconcile(name: string): Promise<void> {
    let crd = this.crds.get(name);
    if (crd === undefined) {
      this.#stop(name);
      this.#lookAtGroup(name);
      return;
    }
    // First, as kube-apiserver's conditions have it.
    crd = await this.#approve(name, crd);
    crd = await this.#acceptNames(name, crd);
    this.#serve(name, crd);
    crd = await this.#establish(name, crd);
    crd = await this.#updateConditions(name, crd);
    if (needsFinalizing(crd)) this.#finalize(name, crd);
  }

  /** Names that were released may be what another CRD waits for. */
  #lookAtGroup(name: string): void {
    const group = groupOf(name);
    for (const [other, { spec }] of this.crds) if (other !== name && spec.group === group) this.look(other);
  }

  async #approve(name: string, crd: Crd): Promise<Crd> {
    const wanted = approvalCondition(crd);
    if (wanted === undefined || isSame(conditionOf(crd, wanted.type), wanted)) return crd;
    const written = await this.#writer.update(name, (_current, set) => {
      set(wanted);
      return true;
    });
    return this.#know(name, written) ?? crd;
  }

  async #acceptNames(name: string, crd: Crd): Promise<Crd> {
    if (isDeepStrictEqual(crd.spec.names, crd.status.acceptedNames)) return crd;
    let changed = false;
    const written = await this.#writer.update(name, (current, set) => {
      const { acceptedNames, namesAccepted, established } = decideNames(current, this.crds.values());
      const old = conditionOf(current, 'NamesAccepted');
      changed = !isSame(old, namesAccepted) || !isDeepStrictEqual(acceptedNames, current.status.acceptedNames);
      if (!changed) return false;
      current.status.acceptedNames = acceptedNames;
      set(namesAccepted);
      set(established);
      return true;
    });
    if (changed) this.#lookAtGroup(name);
    return this.#know(name, written) ?? crd;
  }

  /** A write of our own is known before it comes back by the watch. */
  #know(name: string, written: Crd | undefined): Crd | undefined {
    if (written !== undefined && this.crds.has(name)) this.crds.set(name, written);
    return written;
  }

  async #establish(name: string, crd: Crd): Promise<Crd> {
    if (!isTrue(crd, 'NamesAccepted') || isTrue(crd, 'Established')) return crd;
    const caBundle = crd.spec.conversion?.webhook?.clientConfig?.caBundle ?? '';
    const written = await this.#writer.update(name, (current, set) => {
      if (!isTrue(current, 'NamesAccepted') || isTrue(current, 'Established')) return false;
      if (caBundle !== '' && !isCaBundle(caBundle)) {
        const message = 'The conversion webhook CABundle is invalid';
        set({ type: 'Established', status: 'False', reason: 'InvalidCABundle', message });
      } else {
        const message = 'the initial names have been accepted';
        set({ type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message });
      }
      return true;
    });
    return this.#know(name, written) ?? crd;
  }

  async #updateConditions(name: string, crd: Crd): Promise<Crd> {
    const { uid = '', generation = 0 } = crd.metadata;
    // Walking a large schema is slow, so the conditions of one generation are computed once.
    const about = `${uid}/${generation}`;
    if (this.#computedFor.get(name) === about) return crd;
    this.#computedFor.set(name, about);
    const changes = Object.entries(await conditionsOf(this.options.workers, crd)).filter(([type, wanted]) => {
      const old = conditionOf(crd, type);
      return wanted === undefined ? old !== undefined : !isSame(old, wanted);
    });
    if (changes.length === 0) return crd;
    const written = await this.#writer.update(name, ({ status }, set) => {
      for (const [type, wanted] of changes) {
        if (wanted !== undefined) set(wanted);
        else status.conditions = (status.conditions ?? []).filter((one) => one.type !== type);
      }
      return true;
    });
    return this.#know(name, written) ?? crd;
  }

  #serve(name: string, crd: Crd): void {
    if (!isTrue(crd, 'NamesAccepted') && !isTrue(crd, 'Established')) return;
    const { metadata, status } = crd;
    // Each change of the spec is another generation; comparing large schemas is slow.
    const made = { uid: metadata.uid ?? '', generation: metadata.generation ?? 0, names: status.acceptedNames };
    const known = this.#serving.get(name);
    if (known !== undefined) {
      const terminating = isTrue(crd, 'Terminating');
      if (known.terminating !== terminating) {
        known.terminating = terminating;
        known.kind.changed();
      }
      if (isDeepStrictEqual(known.made, made)) return;
    }
    this.#stop(name);
    const { expressions, converterOf, context, workers } = this.options;
    const kind = customKind(crd, {
      selectableFields: context().features.enabled('CustomResourceFieldSelectors'),
      terminating: () => serving.terminating,
      ...(expressions && { expressions }),
      ...(converterOf && { converterOf }),
      workers,
    });
    const serving: Serving = { made, terminating: isTrue(crd, 'Terminating'), kind: this.options.serve(kind) };
    this.#serving.set(name, serving);
  }

  #stop(name: string): void {
    this.#serving.get(name)?.kind.stop();
    this.#serving.delete(name);
    this.#computedFor.delete(name);
  }

  /** Beside the others: objects may be slow to go. */
  #finalize(name: string, crd: Crd): void {
    if (this.#finalizing.has(name)) return;
    const objects = this.#serving.get(name)?.kind.objects;
    if (objects === undefined && isTrue(crd, 'Established')) throw new Error('its objects cannot be reached');
    this.#finalizing.add(name);
    const { context, signal } = this.options;
    finalizeDefinition(name, { writer: this.#writer, context, signal, objects })
      .catch((error: unknown) => this.#retry(name, error))
      .finally(() => this.#finalizing.delete(name));
  }
}

/** Nothing has been decided about it yet. */
const isNew = ({ metadata, status }: Crd): boolean =>
  (status.conditions ?? []).length === 0 && metadata.deletionTimestamp === undefined;

const conditionOf = ({ status }: Crd, type: string): CustomResourceDefinitionCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type);

const isTrue = ({ status }: Crd, type: string): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** A CRD's name is its plural and its group. */
const groupOf = (name: string): string => name.slice(name.indexOf('.') + 1);

const isSame = (old: Condition | undefined, { status, reason, message }: Condition): boolean =>
  old?.status === status && old.reason === reason && old.message === message;

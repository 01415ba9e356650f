// What the thread for large objects knows: the kinds, as the server that started it has them, without anything that is
// stored. Work that needs more than that runs inline.
import { LRUCache } from 'lru-cache';
import { PARSE_RESPONSE, runParseResponse } from '../../admission/webhooks/review-response.js';
import { RECORD_PATCH, runRecordPatch } from '../../audit/patch-json.js';
import { RunInline, type Task } from '../../lib/async/worker-pool.js';
import { bufferOf } from '../../lib/values/buffer-of.js';
import { computedStore } from '../../registry/computed-store.js';
import type { FeatureGates } from '../../registry/kind.js';
import type { KindRef } from '../../registry/kind-ref.js';
import { PREPARE, runPrepare } from '../../registry/prepare.worker.js';
import type { ResourceRegistry } from '../../registry/registry.js';
import { CHANGE } from '../../rest/change/change-on-worker.js';
import { runChange } from '../../rest/change/change.worker.js';
import { CONVERT, convertBytes } from '../../rest/wire/convert-bytes.js';
import type { Endpoint } from '../../rest/contract/endpoint.js';
import type { EndpointWork } from '../../rest/contract/endpoint-task.js';
import { ENCODE_DOCUMENT, runEncodeDocument, PUBLISH, runPublish } from '../../rest/openapi/openapi.worker.js';
import {
  RENDER,
  RENDER_ELEMENT,
  RENDER_EVENT,
  runRenderElement,
  runRenderEvent,
  runRender,
} from '../../rest/answer/render.worker.js';
import { ACCEPT_CONVERTED, runAccept } from '../../crd/conversion/accept.worker.js';
import { RENEW, runRenew } from '../../crd/renew.worker.js';
import { runComputeConditions, COMPUTE_CONDITIONS } from '../../crd/conditions.worker.js';
import { customKindFrom } from '../../crd/custom-kind.js';
import type { ObjectCodec } from '../../storage/store.js';
import type { StructType } from '../../schema/type.js';
import type { WorkerRequest } from './protocol.js';
import { type Expressions, lazyExpressions } from '../kinds/expressions.js';
import { behindGates, serverKinds } from '../kinds/kinds.js';
import { MUTATE, runMutate } from './mutate.worker.js';
import { PATCH, runPatch } from './patch.worker.js';
import { WorkerPolicies, RUN_POLICY } from './policies.worker.js';
import { Resources } from '../kinds/resources.js';
import type { WorkerSettings } from './worker-settings.js';

const MAX_DEFINITIONS = 100;
/** Other work waits for expressions that run inline; expressions within their cost limits take a second or two. */
const EXPRESSIONS_MS = 10_000;

function lateFromNow(): () => boolean {
  const untilMs = performance.now() + EXPRESSIONS_MS;
  return () => performance.now() > untilMs;
}

export class WorkerContext {
  readonly #features: FeatureGates;
  readonly #expressions: Expressions;
  readonly #policies: WorkerPolicies;
  #builtIn: Resources | undefined;
  readonly #custom = new LRUCache<string, Resources>({ max: MAX_DEFINITIONS });
  #compilations: number[] = [];
  #evaluations: number[] = [];

  constructor(private readonly settings: WorkerSettings) {
    const on = new Set(settings.features);
    this.#features = { enabled: (name) => on.has(name) };
    this.#expressions = lazyExpressions(
      { compatibility: settings.compatibility, features: this.#features },
      {
        compilation: (seconds) => this.#compilations.push(seconds),
        evaluation: (seconds) => this.#evaluations.push(seconds),
      },
    );
    this.#policies = new WorkerPolicies(this.#expressions);
  }

  do(name: string, work: object): object {
    const known = this.#jobs.get(name);
    if (known === undefined) throw new Error(`nobody knows how to ${name}`);
    return known(work);
  }

  readonly #jobs = new Map<string, (work: object) => object>([
    job(CONVERT, convertBytes),
    job(PREPARE, (work) =>
      runPrepare(this.#registry(work.kind), work, {
        features: this.#features,
        options: this.settings.kindOptions,
        interrupted: lateFromNow(),
      }),
    ),
    job(RECORD_PATCH, ({ patch }) => ({ json: runRecordPatch(patch) })),
    this.#endpointJob(RENDER, runRender),
    this.#endpointJob(RENDER_EVENT, runRenderEvent),
    this.#endpointJob(RENDER_ELEMENT, runRenderElement),
    this.#endpointJob(PUBLISH, runPublish),
    job(ENCODE_DOCUMENT, runEncodeDocument),
    job(COMPUTE_CONDITIONS, runComputeConditions),
    job(RUN_POLICY, (work) => this.#policies.run(work, lateFromNow())),
    job(ACCEPT_CONVERTED, (work) => runAccept(work.kind && this.#formOf(work.kind), work)),
    job(RENEW, (work) => runRenew(this.#storedForm(work.kind), work)),
    job(PARSE_RESPONSE, runParseResponse),
    this.#endpointJob(MUTATE, runMutate),
    this.#endpointJob(PATCH, runPatch),
    this.#endpointJob(CHANGE, runChange),
  ]);

  /** Whether the CRD is known, if need be from its `json`. */
  knows({ id, json }: NonNullable<WorkerRequest['needs']>): boolean {
    if (this.#custom.get(id) !== undefined) return true;
    if (json !== undefined) this.#custom.set(id, this.#define(bufferOf(json)));
    return json !== undefined;
  }

  /** What expressions took since the last call; clears the lists. */
  drainTimes(): { compilations?: number[]; evaluations?: number[] } {
    if (this.#compilations.length === 0 && this.#evaluations.length === 0) return {};
    const times = { compilations: this.#compilations, evaluations: this.#evaluations };
    this.#compilations = [];
    this.#evaluations = [];
    return times;
  }

  #endpointJob<Work extends EndpointWork, Answer extends object>(
    task: Task<Work, Answer>,
    does: (endpoint: Endpoint, work: Work) => Answer,
  ): readonly [string, (work: object) => object] {
    return job(task, (work) => does(this.#endpoint(work.kind, work.version), work));
  }

  #registry(kind: KindRef): ResourceRegistry {
    if (kind.custom !== undefined) return this.#endpoint(kind, kind.custom.version).registry;
    const registry = this.#kinds().registry({ group: kind.group, resource: kind.plural });
    if (registry === undefined) throw new RunInline('the kind is not known');
    return registry;
  }

  #endpoint({ group, plural, custom }: KindRef, version: string): Endpoint {
    const resources = custom === undefined ? this.#kinds() : this.#custom.peek(custom.id);
    const endpoint = resources?.find(group, version, plural);
    if (endpoint === undefined) throw new RunInline('the version is not known');
    return endpoint;
  }

  #formOf(kind: KindRef): StructType {
    return this.#endpoint(kind, kind.custom?.version ?? '').type;
  }

  /** How objects of a definition lie in their store, whether or not the version that is stored is served. */
  #storedForm({ group, plural, custom }: KindRef): ObjectCodec {
    const registry = this.#custom.peek(custom?.id ?? '')?.registry({ group, resource: plural });
    if (registry === undefined) throw new RunInline('the definition is not known');
    return (registry.store.view?.base ?? registry.store).options.codec;
  }

  #kinds(): Resources {
    if (this.#builtIn === undefined) {
      this.#builtIn = emptyResources();
      const relaxedNames = this.#features.enabled('RelaxedServiceNameValidation');
      const kinds = serverKinds({
        core: {
          binding: { operations: needsMainThread },
          componentStatus: { stores: needsMainThread },
          service: { allocators: ONLY_THERE, relaxedNames, deleteEndpoints: needsMainThread },
          serviceAccount: {},
        },
        access: { authorizer: ONLY_THERE, rules: ONLY_THERE },
        identity: { authentication: ONLY_THERE, apiAudiences: [] },
        resourceOf: needsMainThread,
        expressions: this.#expressions,
      });
      for (const kind of behindGates(kinds, this.#features)) this.#builtIn.add(kind);
    }
    return this.#builtIn;
  }

  #define(json: Buffer): Resources {
    const resources = emptyResources();
    const kind = customKindFrom(json, {
      selectableFields: this.#features.enabled('CustomResourceFieldSelectors'),
      terminating: () => false,
      expressions: this.#expressions,
      converterOf: () => ONLY_THERE,
    });
    resources.serveCustom(kind);
    return resources;
  }
}

/** Every version is enabled here: an unserved version is never looked up. */
const emptyResources = (): Resources =>
  new Resources({
    prefix: '',
    openStore: (options) => computedStore(options, '', async () => []),
    clock: () => new Date(),
    garbageCollection: false,
    deleteCollectionWorkers: 1,
    enablement: { version: () => true, resource: () => true },
  });

function job<Work extends object, Answer extends object>(
  task: Task<Work, Answer>,
  does: (work: Work) => Answer,
): readonly [string, (work: object) => object] {
  return [task.name, (work) => does(work as Work)];
}

const needsMainThread = (): never => {
  throw new RunInline('the server has to answer');
};

/** Stands for what the kinds have from the server. */
const ONLY_THERE = new Proxy({}, { get: needsMainThread }) as never;

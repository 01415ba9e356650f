// Keeps the API services of what this server serves itself. What people made or took over is left alone: only objects
// with the mark of the server are changed or deleted, and those marked `onstart` only once, as the server starts.
import { prefixed } from '../lib/telemetry/prefixed.js';
import type { Logger } from '../lib/telemetry/log.js';
import { SERVER_MANAGER } from '../registry/server-client.js';
import { deepEqual } from '../lib/values/deep-equal.js';
import type { Clock } from '../lib/async/clock.js';
import { WorkQueue } from '../lib/async/work-queue.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { startInformer } from '../storage/informer.js';
import type { ResourceStore, StoredObject } from '../storage/store.js';
import { API_SERVICES, type ApiServices, type ApiServiceWriter, ignoringConflicts } from './api-services.js';
import { AUTO_MANAGED, customService, type GroupVersion, nameOf } from './wanted-services.js';

export interface RegistrationOptions {
  readonly services: ApiServices;
  readonly client: ApiServiceWriter;
  /** The API services of the server's own versions. */
  readonly builtIn: readonly APIService[];
  /** The store of CRDs. */
  readonly crds: ResourceStore;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Many, so that at a first start all are in one commit of the store. */
const CONCURRENCY = 32;

/** Resolves once what is there is known; works on until `signal` aborts. */
export async function keepRegistered(options: RegistrationOptions): Promise<void> {
  const { services, client, crds, clock, signal, log } = options;
  const wanted = new Map(options.builtIn.map((service) => [service.metadata.name ?? '', service]));
  const looked = new Set<string>();
  const queue = new WorkQueue({ name: 'API service', work, concurrency: CONCURRENCY, clock, signal, log });
  let started = false;
  const informer = startInformer({
    store: crds,
    signal,
    log: prefixed(log, 'custom resource definitions'),
    onUpsert: (stored, before) => {
      if (before !== undefined) lookAtVersionsOf(before);
      lookAtVersionsOf(stored);
    },
    onDelete: lookAtVersionsOf,
  });
  await Promise.all([services.follow(signal), informer.synced]);
  const atStart = new Set(services.names());
  started = true;
  for (const stored of informer.objects.values()) lookAtVersionsOf(stored);
  for (const name of wanted.keys()) queue.add(name);
  services.subscribe((name) => queue.add(name));

  function lookAtVersionsOf(stored: StoredObject): void {
    // Before all CRDs are known, a version that none of them serves may still be served.
    if (!started) return;
    const { group, versions } = (stored.object() as CustomResourceDefinition).spec;
    for (const { name: version } of versions ?? []) decide({ group, version });
  }

  function* known(): Iterable<CustomResourceDefinition> {
    for (const stored of informer.objects.values()) yield stored.object() as CustomResourceDefinition;
  }

  function decide(groupVersion: GroupVersion): void {
    const service = customService(groupVersion, known());
    const name = nameOf(groupVersion);
    if (service === undefined) wanted.delete(name);
    else wanted.set(name, service);
    queue.add(name);
  }

  async function work(name: string): Promise<'done'> {
    const [current, service] = [services.get(name), wanted.get(name)];
    const step = nextStep(current, service, { lookedBefore: looked.has(name), atStart: atStart.has(name) });
    if (step === 'create' && service !== undefined) {
      await client.create(API_SERVICES, structuredClone(service), SERVER_MANAGER);
    } else if (step === 'update' && service !== undefined && current !== undefined) {
      const { spec } = service;
      const respecify = <T extends object>(object: T): T => ({ ...object, spec: structuredClone(spec) });
      await ignoringConflicts(
        client.update({ resource: API_SERVICES, object: current, change: respecify, manager: SERVER_MANAGER }),
      );
    } else if (step === 'delete' && current !== undefined) {
      await ignoringConflicts(client.delete(API_SERVICES, current));
    }
    looked.add(name);
    return 'done';
  }
}

/** What is known of an API service beside how it is and shall be. */
export interface Past {
  /** It was looked at since the server started, and without failure. */
  readonly lookedBefore: boolean;
  /** It was there when the server started. */
  readonly atStart: boolean;
}

export function nextStep(
  current: Readonly<APIService> | undefined,
  wanted: Readonly<APIService> | undefined,
  { lookedBefore, atStart }: Past,
): 'create' | 'update' | 'delete' | 'nothing' {
  if (managed(wanted) === 'onstart' && lookedBefore) return 'nothing';
  if (current === undefined) return wanted === undefined ? 'nothing' : 'create';
  if (managed(current) === undefined) return 'nothing';
  // Another server that starts now may want it; this one had its say.
  if (managed(current) === 'onstart' && (lookedBefore || !atStart)) return 'nothing';
  if (wanted === undefined) return 'delete';
  return deepEqual(current.spec, wanted.spec) ? 'nothing' : 'update';
}

function managed(service: Readonly<APIService> | undefined): 'onstart' | 'true' | undefined {
  const mark = service?.metadata.labels?.[AUTO_MANAGED];
  return mark === 'onstart' || mark === 'true' ? mark : undefined;
}

// Says on each API service whether it is available: at once of those this server serves itself, and of the others
// whenever their service or its endpoints change.
import { prefixed } from '../lib/telemetry/prefixed.js';
import type { Logger } from '../lib/telemetry/log.js';
import { SERVER_MANAGER } from '../registry/server-client.js';
import { LOCAL_AVAILABLE } from '../apis/apiregistration/index.js';
import type { Clock } from '../lib/async/clock.js';
import { every } from '../lib/async/repeat.js';
import { delayFirstStatus } from '../lib/async/delay-first-status.js';
import { WorkQueue } from '../lib/async/work-queue.js';
import type { KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import type { Lookup } from '../registry/kind.js';
import { timestamp } from '../registry/registry.js';
import type { APIService, ServiceReference } from '../schema/generated/apiregistration.v1.js';
import type { Service } from '../schema/generated/core.v1.js';
import type { EndpointSlice } from '../schema/generated/discovery.v1.js';
import { startInformer } from '../storage/informer.js';
import type { ResourceStore, StoredObject } from '../storage/store.js';
import {
  API_SERVICES,
  type ApiServices,
  type ApiServiceWriter,
  isAvailable,
  ignoringConflicts,
} from './api-services.js';
import type { AvailabilityMetrics } from './availability-metrics.js';
import { type Judgement, remoteCondition } from './remote-condition.js';
import { AUTO_MANAGED, type AutoManaged } from './wanted-services.js';

export interface AvailabilityOptions {
  readonly services: ApiServices;
  readonly client: ApiServiceWriter;
  readonly metrics: AvailabilityMetrics;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface RemoteOptions extends AvailabilityOptions {
  readonly lookup: Lookup;
  readonly storeOf: (resource: GroupResource) => ResourceStore;
  /** Asks the server itself, once all else is in order. */
  readonly check: (service: Readonly<APIService>) => Promise<Judgement>;
  /** Observes the result of each check. */
  readonly judged: (service: Readonly<APIService>, judgement: Judgement) => Promise<void>;
  readonly forget: (name: string) => void;
}

const SERVICES: GroupResource = { group: '', resource: 'services' };
const ENDPOINT_SLICES: GroupResource = { group: 'discovery.k8s.io', resource: 'endpointslices' };
const SERVICE_NAME = 'kubernetes.io/service-name';
const CONCURRENCY = 5;
const RECHECK_MS = 10_000;

export function keepLocalAvailable(options: AvailabilityOptions): void {
  keep(options, async ({ spec }) => (spec.service === undefined ? LOCAL_AVAILABLE : undefined));
}

export function keepRemoteAvailability(options: RemoteOptions): void {
  const { services, lookup } = options;
  let following = false;
  const queue = keep(options, async (apiService) => {
    const { service } = apiService.spec;
    // One that belongs to a definition is no other server's for long: a word on it would stand between its undoing and
    // whoever changes it next.
    if (service === undefined || isOfDefinition(apiService)) return undefined;
    // Most clusters have no such API service, and need not watch all their endpoints for none.
    if (!following) followBackings();
    following = true;
    const judgement = remoteCondition(service, await backingOf(service)) ?? (await options.check(apiService));
    await options.judged(apiService, judgement);
    return judgement;
  });
  // Servers come and go without anything here changing.
  every(
    async () =>
      services
        .names()
        .filter(isRemote)
        .forEach((name) => queue.add(name)),
    {
      everyMs: RECHECK_MS,
      signal: options.signal,
      log: options.log,
    },
  );
  services.subscribe((name) => {
    if (!isRemote(name)) options.forget(name);
  });

  function isRemote(name: string): boolean {
    return services.get(name)?.spec.service !== undefined;
  }

  async function backingOf({ namespace = '', name = '' }: ServiceReference) {
    const slices = (await lookup.list(ENDPOINT_SLICES, namespace)).filter((one) => one.labels[SERVICE_NAME] === name);
    return {
      service: (await lookup.get(SERVICES, namespace, name)) as Service | undefined,
      slices: slices.map((one) => one.object() as EndpointSlice),
    };
  }

  function followBackings(): void {
    follow(SERVICES, ({ key }) => lookAtThoseOf(key));
    follow(ENDPOINT_SLICES, ({ key, labels }) => {
      lookAtThoseOf(`${key.slice(0, key.indexOf('/'))}/${labels[SERVICE_NAME] ?? ''}`);
    });
  }

  function follow(resource: GroupResource, changed: (stored: StoredObject) => void): void {
    startInformer({
      store: options.storeOf(resource),
      signal: options.signal,
      log: prefixed(options.log, resource.resource),
      onUpsert: (stored, before) => {
        if (before !== undefined) changed(before);
        changed(stored);
      },
      onDelete: changed,
    });
  }

  function lookAtThoseOf(serviceKey: string): void {
    for (const name of services.names()) {
      const service = services.get(name)?.spec.service;
      if (service !== undefined && `${service.namespace}/${service.name}` === serviceKey) queue.add(name);
    }
  }
}

const isOfDefinition = ({ metadata }: Readonly<APIService>): boolean =>
  metadata.labels?.[AUTO_MANAGED] === ('true' satisfies AutoManaged);

/** Undefined: somebody else judges this one. */
type Judge = (service: Readonly<APIService>) => Promise<Judgement | undefined>;

function keep(options: AvailabilityOptions, judge: Judge): WorkQueue {
  const { services, client, metrics, clock, signal, log } = options;
  const work = async (name: string): Promise<'done'> => {
    const service = services.get(name);
    if (service === undefined) {
      metrics.forget(name);
      return 'done';
    }
    const judgement = await judge(service);
    if (judgement === undefined) return 'done';
    metrics.judged(name, judgement);
    if (isRecorded(service, judgement)) return 'done';
    const now = timestamp(new Date(clock.now()));
    const say = (current: KubeObject): KubeObject => withCondition(current as APIService, judgement, now);
    await ignoringConflicts(
      client.update({
        resource: API_SERVICES,
        object: service,
        change: say,
        manager: SERVER_MANAGER,
        subresource: 'status',
      }),
    );
    if (isAvailable(service) && judgement.status !== 'True') metrics.lost(name, judgement);
    return 'done';
  };
  const queue = new WorkQueue({ name: 'API service', work, concurrency: CONCURRENCY, clock, signal, log });
  services.subscribe((name) => delayFirstStatus(isNew(services.get(name)), clock, () => queue.add(name)));
  return queue;
}

const isNew = (service: Readonly<APIService> | undefined): boolean =>
  service !== undefined && (service.status.conditions ?? []).length === 0;

function isRecorded({ status }: Readonly<APIService>, judgement: Judgement): boolean {
  const said = status.conditions?.find(({ type }) => type === judgement.type);
  return said?.status === judgement.status && said?.reason === judgement.reason && said?.message === judgement.message;
}

/** The time is that of the last change of the status, not of the reason. */
function withCondition(service: APIService, judgement: Judgement, now: string): KubeObject {
  const conditions = [...(service.status.conditions ?? [])];
  const place = conditions.findIndex(({ type }) => type === judgement.type);
  const known = conditions[place];
  const lastTransitionTime = known?.status === judgement.status ? known.lastTransitionTime : now;
  const condition = { ...judgement, lastTransitionTime };
  if (place === -1) conditions.push(condition);
  else conditions[place] = condition;
  return { ...service, status: { ...service.status, conditions } } as KubeObject;
}

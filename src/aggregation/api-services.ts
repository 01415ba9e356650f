// The API services there are, followed once for all that look after them.
import { prefixed } from '../lib/telemetry/prefixed.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { ServerClient } from '../registry/server-client.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import type { RegisteredGroup } from '../rest/discovery/registered-versions.js';
import type { APIService } from '../schema/generated/apiregistration.v1.js';
import { type Informer, startInformer } from '../storage/informer.js';
import type { ResourceStore } from '../storage/store.js';

export const API_SERVICES: GroupResource = { group: 'apiregistration.k8s.io', resource: 'apiservices' };
/** How API services are written; each write is noted under a manager's name. */
export type ApiServiceWriter = Pick<ServerClient, 'create' | 'update' | 'delete'>;

type Receive = (name: string) => void;

export class ApiServices {
  readonly #receivers: Receive[] = [];
  #informer: Informer | undefined;
  #synced = false;
  /** Names of those that another server answers for. */
  readonly #remote = new Set<string>();
  /** Computed on first use after an API service came or went. */
  #groups: ReadonlyMap<string, RegisteredGroup> | undefined;
  #generation = 0;

  constructor(
    private readonly store: ResourceStore,
    private readonly log: Logger,
  ) {}

  /** Resolves once those that were there are known; follows until `signal` aborts. */
  async follow(signal: AbortSignal): Promise<void> {
    const notify = ({ key }: { readonly key: string }): void => {
      if (this.get(key)?.spec.service == null) this.#remote.delete(key);
      else this.#remote.add(key);
      this.#groups = undefined;
      this.#generation++;
      for (const receive of this.#receivers) receive(key);
    };
    this.#informer ??= startInformer({
      store: this.store,
      signal,
      log: prefixed(this.log, 'API services'),
      onUpsert: notify,
      onDelete: notify,
    });
    await this.#informer.synced;
    this.#synced = true;
    this.#generation++;
  }

  /** Another one whenever any came, changed or went. */
  get generation(): number {
    return this.#generation;
  }

  /** Tells names of those that are there, then of each that comes, changes or goes. */
  subscribe(receive: Receive): void {
    for (const name of this.names()) receive(name);
    this.#receivers.push(receive);
  }

  get(name: string): Readonly<APIService> | undefined {
    return this.#informer?.objects.get(name)?.object() as APIService | undefined;
  }

  get anyRemote(): boolean {
    return this.#remote.size > 0;
  }

  /** The one of that name, where another server answers for it. */
  remote(name: string): Readonly<APIService> | undefined {
    return this.#remote.has(name) ? this.get(name) : undefined;
  }

  /** Whether any version of the group is registered; until they are known, all count as registered. */
  hasGroup(group: string): boolean {
    return this.groups()?.has(group) ?? true;
  }

  /** Undefined until they are known. */
  groups(): ReadonlyMap<string, RegisteredGroup> | undefined {
    if (!this.#synced) return undefined;
    return (this.#groups ??= groupsOf(this.names().flatMap((name) => this.get(name)?.spec ?? [])));
  }

  remoteNames(): Iterable<string> {
    return this.#remote;
  }

  names(): string[] {
    return [...(this.#informer?.objects.keys() ?? [])];
  }
}

function groupsOf(registered: readonly APIService['spec'][]): ReadonlyMap<string, RegisteredGroup> {
  const groups = new Map<string, { rank: number; firstService: string; versions: Map<string, number> }>();
  for (const { group = '', version = '', groupPriorityMinimum, versionPriority } of registered) {
    const known = groups.get(group) ?? { rank: 0, firstService: '', versions: new Map<string, number>() };
    groups.set(group, known);
    const service = `${version}.${group}`;
    if (groupPriorityMinimum > known.rank || (groupPriorityMinimum === known.rank && service < known.firstService)) {
      known.rank = groupPriorityMinimum;
      known.firstService = service;
    }
    known.versions.set(version, versionPriority);
  }
  return groups;
}

export const isAvailable = ({ status }: Readonly<APIService>): boolean =>
  status.conditions?.some((one) => one.type === 'Available' && one.status === 'True') ?? false;

/** For a write to an object that may be deleted or changed meanwhile: the watch then triggers another round. */
export async function ignoringConflicts(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof StatusError && (error.code === 404 || error.code === 409))) throw error;
  }
}

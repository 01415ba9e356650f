// Tells in which versions this server writes and reads its resources, in StorageVersion objects: who migrates stored
// objects waits until all servers agree.
import type { Logger } from '../../lib/telemetry/log.js';
import { errorText } from '../../lib/text/error-text.js';
import { pause } from '../../lib/async/pause.js';
import { every } from '../../lib/async/repeat.js';
import { type GroupResource, groupResourceText } from '../../machinery/status.js';
import { type ServerClient, SERVER_MANAGER } from '../../registry/server-client.js';
import type { StorageVersion } from '../../schema/generated/apiserverinternal.v1alpha1.js';
import { withServer } from './storage-version.js';

/** What is stored together, under one name and maybe another that means the same. */
export interface StoredVersions {
  readonly resource: GroupResource;
  /** Under which the same objects are served, too. */
  readonly equivalents: readonly GroupResource[];
  readonly encodingVersion: string;
  readonly decodableVersions: readonly string[];
  readonly servedVersions: readonly string[];
}

export interface StorageVersionsOptions {
  readonly client: Pick<ServerClient, 'get' | 'create' | 'update'>;
  readonly serverId: string;
  /** In the order of group and resource. */
  readonly stored: readonly StoredVersions[];
  /** Whether the objects are served at all. */
  readonly isServed: () => boolean;
  readonly now: () => string;
  readonly log: Logger;
}

const STORAGE_VERSIONS: GroupResource = { group: 'internal.apiserver.k8s.io', resource: 'storageversions' };
const API_VERSION = 'internal.apiserver.k8s.io/v1alpha1';
const ATTEMPTS = 3;
const RETRY_MS = 1000;
const AGAIN_MS = 10 * 60_000;

export class StorageVersions {
  completed = false;
  readonly #pending = new Map<string, string | undefined>();

  constructor(private readonly options: StorageVersionsOptions) {
    for (const { resource, equivalents } of options.stored) {
      for (const each of [resource, ...equivalents]) this.#pending.set(groupResourceText(each), undefined);
    }
  }

  isPending(resource: GroupResource): boolean {
    return this.#pending.has(groupResourceText(resource));
  }

  lastError(resource: GroupResource): string | undefined {
    return this.#pending.get(groupResourceText(resource));
  }

  /** Resolves when all is published. What somebody changes or removes later is published again. */
  async keep(signal: AbortSignal): Promise<void> {
    const publish = (): Promise<void> => this.#publishAll(signal);
    every(publish, { everyMs: AGAIN_MS, signal, log: this.options.log });
    await publish();
    while (!this.completed && !signal.aborted) await pause(RETRY_MS, signal);
  }

  async #publishAll(signal: AbortSignal): Promise<void> {
    let failed = false;
    for (const stored of this.options.stored) {
      const error = await this.#publish(stored, signal);
      const names = [stored.resource, ...stored.equivalents].map(groupResourceText);
      if (signal.aborted) return;
      if (error === undefined) for (const name of names) this.#pending.delete(name);
      else {
        failed = true;
        for (const name of names) if (this.#pending.has(name)) this.#pending.set(name, error);
        this.options.log.info(`storage version of ${names[0]}: ${error}`);
      }
    }
    if (!failed) this.completed = true;
  }

  /** What went wrong at last, if it did. */
  async #publish(stored: StoredVersions, signal: AbortSignal): Promise<string | undefined> {
    // Without the API nobody could read what is published.
    if (!this.options.isServed()) return 'the server could not find the requested resource';
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#write(stored);
        return undefined;
      } catch (error) {
        if (attempt === ATTEMPTS) return errorText(error);
        await pause(RETRY_MS, signal);
      }
    }
    return 'the server ends';
  }

  async #write({ resource, encodingVersion, decodableVersions, servedVersions }: StoredVersions): Promise<void> {
    const { client, serverId, now } = this.options;
    const name = `${resource.group === '' ? 'core' : resource.group}.${resource.resource}`;
    const own = {
      apiServerID: serverId,
      encodingVersion,
      decodableVersions: [...decodableVersions],
      servedVersions: [...servedVersions],
    };
    const empty: StorageVersion = {
      kind: 'StorageVersion',
      apiVersion: API_VERSION,
      metadata: { name },
      spec: {},
      status: {},
    };
    const known = await client.get(STORAGE_VERSIONS, '', name);
    if (known === undefined) await client.create(STORAGE_VERSIONS, structuredClone(empty), SERVER_MANAGER);
    const fill = (object: StorageVersion): StorageVersion => ({
      ...object,
      status: withServer(object.status, own, now()),
    });
    await client.update({
      resource: STORAGE_VERSIONS,
      object: empty,
      change: (object) => fill(object as StorageVersion),
      manager: SERVER_MANAGER,
      subresource: 'status',
    });
  }
}

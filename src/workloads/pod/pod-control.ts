// Creates and deletes the pods of an owner, and keeps count of the events that are still to come.
import { CONTROLLER_MANAGER, inBatches } from '../../controllers/controller.js';
import type { KubeObject } from '../../machinery/object.js';
import { StatusError } from '../../machinery/status.js';
import type { ServerClient } from '../../registry/server-client.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import type { OwnedObjects } from '../owned-objects.js';
import { PODS } from '../workload-parts.js';

/** More are made in the next round, once these have been heard of. */
const MAX_AT_ONCE = 500;

export class PodControl {
  constructor(
    private readonly client: ServerClient,
    private readonly pods: OwnedObjects<Pod>,
  ) {}

  /** Answers the first failure; what would fail alike is not tried after it. */
  async create(owner: Readonly<KubeObject>, count: number, make: (place: number) => Pod): Promise<Error | undefined> {
    let failure: Error | undefined;
    const places = Array.from({ length: Math.min(count, MAX_AT_ONCE) }, (_, place) => place);
    const createOne = async (place: number): Promise<void> => {
      if (failure !== undefined) return;
      const pod = make(place);
      failure ??= await this.#expecting(owner, pod, 'create', async () => {
        if (!(await this.client.create(PODS, pod, CONTROLLER_MANAGER)))
          throw new Error(`${keyOf(pod)} is there already`);
      });
    };
    // The first alone: a quota or a webhook that refuses it refuses all.
    await inBatches(places.slice(0, 1), createOne);
    await inBatches(places.slice(1), createOne);
    return failure;
  }

  async delete(owner: Readonly<KubeObject>, pods: readonly Readonly<Pod>[]): Promise<Error | undefined> {
    let failure: Error | undefined;
    await inBatches(pods.slice(0, MAX_AT_ONCE), async (pod) => {
      const failed = await this.#expecting(owner, pod, 'delete', () => this.client.delete(PODS, pod));
      failure ??= failed;
    });
    return failure;
  }

  async #expecting(
    { metadata }: Readonly<KubeObject>,
    pod: Readonly<Pod>,
    what: 'create' | 'delete',
    write: () => Promise<void>,
  ): Promise<Error | undefined> {
    const owner = metadata.uid ?? '';
    const key = keyOf(pod);
    this.pods.expect(owner, key, what);
    try {
      await write();
      return undefined;
    } catch (error) {
      this.pods.arrived(owner, key);
      if (isNamespaceEnding(error)) return undefined;
      if (error instanceof Error) return error;
      throw error;
    }
  }
}

const keyOf = ({ metadata }: Readonly<KubeObject>): string => `${metadata.namespace}/${metadata.name}`;

/** Nothing can be made in it any more, and nothing needs to. */
const isNamespaceEnding = (error: unknown): boolean =>
  error instanceof StatusError &&
  (error.status.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

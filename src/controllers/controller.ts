// What every controller is given of the server, and what it answers.
import type { Clock } from '../lib/clock.js';
import type { GroupVersionKind, KubeObject } from '../machinery/object.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import type { DeleteOptions, LifeContext } from '../registry/kind.js';
import type { ResourceRegistry } from '../registry/registry.js';

export interface ControllerParts {
  readonly client: ControllerClient;
  /** Resources that are served now; custom ones come and go. */
  readonly registries: () => readonly ResourceRegistry[];
  readonly registryOf: (resource: GroupResource) => ResourceRegistry | undefined;
  /** The resource that serves a kind in a version. */
  readonly resourceOf: (kind: GroupVersionKind) => string | undefined;
  /** The server's own part in the life of objects. */
  readonly context: () => LifeContext;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly log: (message: string) => void;
}

/** Resolves once the controller knows the state that was there; it works on until the signal aborts. */
export type StartController = (parts: ControllerParts) => Promise<void>;

/** Reads, and writes that are noted under a manager's name. Objects read are shared: read only. */
export interface ControllerClient {
  get(resource: GroupResource, namespace: string, name: string): Promise<Readonly<KubeObject> | undefined>;
  /** Answers false when the object was there already. */
  create(resource: GroupResource, object: KubeObject, manager: string): Promise<boolean>;
  update(
    resource: GroupResource,
    object: Readonly<KubeObject>,
    change: (object: KubeObject) => KubeObject,
    manager: string,
    subresource?: string,
  ): Promise<void>;
  /** Server-side apply, by force. */
  apply(
    resource: GroupResource,
    object: Readonly<KubeObject>,
    configuration: KubeObject,
    manager: string,
  ): Promise<void>;
  /** Only the very object: another one of its name stays. An object that is gone already is no error. */
  delete(resource: GroupResource, object: Readonly<KubeObject>, options?: DeleteOptions): Promise<void>;
}

/** The manager the reference's controllers write as. */
export const CONTROLLER_MANAGER = 'kube-controller-manager';

export const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' };
export const PODS: GroupResource = { group: '', resource: 'pods' };
export const NODES: GroupResource = { group: '', resource: 'nodes' };

/** Changes the object if it is still the same one; one that is gone needs no change any more. */
export async function updateSame(
  client: ControllerClient,
  resource: GroupResource,
  object: Readonly<KubeObject>,
  change: (object: KubeObject) => KubeObject,
  subresource = '',
): Promise<void> {
  const onlySame = (current: KubeObject): KubeObject => {
    if (current.metadata.uid !== object.metadata.uid) throw new OtherObjectError();
    return change(current);
  };
  try {
    await client.update(resource, object, onlySame, CONTROLLER_MANAGER, subresource);
  } catch (error) {
    if (!(error instanceof OtherObjectError) && !isStatus(error, 404)) throw error;
  }
}

export const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

/** Many at a time, so that the store can write them together; not all, so that others get their turn. */
export async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) await Promise.all(items.slice(at, at + BATCH).map(work));
}

const BATCH = 32;

class OtherObjectError extends Error {}

/** The registry of a resource every server has. */
export function registryOf(parts: Pick<ControllerParts, 'registryOf'>, resource: GroupResource): ResourceRegistry {
  const registry = parts.registryOf(resource);
  if (registry === undefined) throw new Error(`the server has no ${resource.resource}`);
  return registry;
}

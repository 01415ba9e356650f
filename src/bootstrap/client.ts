// What the bootstrap needs of the server: plain reads and writes, each write noted under a manager's name.
import { typeOf } from '../schema/catalogue.js';
import { updateManagedFields } from '../schema/apply/field-manager.js';
import type { KubeObject } from '../machinery/object.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import type { LifeContext, Lookup, ObjectOperations } from '../registry/kind.js';

export interface BootstrapClient {
  get(resource: GroupResource, namespace: string, name: string): Promise<Readonly<KubeObject> | undefined>;
  list(resource: GroupResource): Promise<readonly Readonly<KubeObject>[]>;
  /** Answers false when the object was there already. */
  create(resource: GroupResource, object: KubeObject, manager: string): Promise<boolean>;
  /** `change` may change and return its argument. */
  update(
    resource: GroupResource,
    object: Readonly<KubeObject>,
    change: (object: KubeObject) => KubeObject,
    manager: string,
    subresource?: string,
  ): Promise<void>;
  delete(resource: GroupResource, object: Readonly<KubeObject>): Promise<void>;
}

export interface BootstrapClientOptions {
  readonly operations: ObjectOperations;
  readonly lookup: Lookup;
  readonly context: () => LifeContext;
}

/** The name under which the server's own writes stand in managedFields. */
export const SERVER_MANAGER = 'kube-apiserver';

export function createBootstrapClient({ operations, lookup, context }: BootstrapClientOptions): BootstrapClient {
  return {
    get: (resource, namespace, name) => lookup.get(resource, namespace, name),
    async list(resource) {
      return (await lookup.list(resource, '')).map((stored) => stored.object());
    },
    async create(resource, object, manager) {
      const life = context();
      note(object, undefined, manager, '', life.now());
      try {
        await operations.create(resource, object.metadata.namespace ?? '', object, life);
        return true;
      } catch (error) {
        if (isStatus(error, 409)) return false;
        throw error;
      }
    },
    async update(resource, object, change, manager, subresource = '') {
      const life = context();
      const { namespace = '', name = '' } = object.metadata;
      const changeAndNote = (current: KubeObject): KubeObject => {
        const live = structuredClone(current);
        const changed = change(current);
        note(changed, live, manager, subresource, life.now());
        return changed;
      };
      await operations.update(resource, namespace, name, subresource, changeAndNote, life);
    },
    async delete(resource, object) {
      const { namespace = '', name = '', uid } = object.metadata;
      const options = uid === undefined ? {} : { preconditions: { uid } };
      try {
        await operations.delete(resource, namespace, name, options, context());
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    },
  };
}

function note(
  object: KubeObject,
  live: KubeObject | undefined,
  manager: string,
  subresource: string,
  time: Date,
): void {
  const apiVersion = object.apiVersion ?? '';
  const slash = apiVersion.indexOf('/');
  const type = typeOf(slash < 0 ? '' : apiVersion.slice(0, slash), apiVersion.slice(slash + 1), object.kind ?? '');
  if (type === undefined) throw new Error(`no type for ${apiVersion} ${object.kind ?? ''}`);
  const resetFields = subresource === '' ? [['status']] : [['spec']];
  updateManagedFields({ type, live, newObject: object, manager, apiVersion, subresource, time, resetFields });
}

const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

// How the server itself reads and writes objects: each write is noted under a manager's name.
import { applyPatch } from '../schema/apply/apply-patch.js';
import { updateManagedFields } from '../schema/apply/field-manager.js';
import { typeOf } from '../schema/catalogue.js';
import { decodeTree } from '../schema/json/decode.js';
import type { StructType } from '../schema/type.js';
import { type GroupVersionKind, type KubeObject, parseApiVersion } from '../machinery/object.js';
import { type GroupResource, StatusError } from '../machinery/status.js';
import type { DeleteOptions, LifeContext, Lookup, ObjectOperations } from './kind.js';

/** Objects read are shared: read only. */
export interface ServerClient {
  get(resource: GroupResource, namespace: string, name: string): Promise<Readonly<KubeObject> | undefined>;
  list(resource: GroupResource): Promise<readonly Readonly<KubeObject>[]>;
  /** Answers false when the object was there already. */
  create(resource: GroupResource, object: KubeObject, manager: string): Promise<boolean>;
  update(write: ClientUpdate): Promise<void>;
  /** Server-side apply on an object that exists, by force, in the version it is stored in. */
  apply(write: ClientApply): Promise<void>;
  /** Only this very object: another one of its name stays. An object that is gone already is no error. */
  delete(resource: GroupResource, object: Readonly<KubeObject>, options?: DeleteOptions): Promise<void>;
}

interface ClientWrite {
  readonly resource: GroupResource;
  /** Names what is written. */
  readonly object: Readonly<KubeObject>;
  readonly manager: string;
  readonly subresource?: string;
}

export interface ClientUpdate extends ClientWrite {
  /** May change and return its argument. */
  readonly change: (object: KubeObject) => KubeObject;
}

export interface ClientApply extends ClientWrite {
  readonly configuration: KubeObject;
}

export interface ServerClientOptions {
  readonly operations: ObjectOperations;
  readonly lookup: Lookup;
  readonly context: () => LifeContext;
  /** Types of kinds that are not in the catalogue. */
  readonly customType?: (kind: GroupVersionKind) => StructType | undefined;
}

/** The name under which the server's own writes stand in managedFields. */
export const SERVER_MANAGER = 'kube-apiserver';

export function createServerClient(options: ServerClientOptions): ServerClient {
  const { operations, lookup, context } = options;
  const note = (object: KubeObject, live: KubeObject | undefined, write: NotedWrite): void =>
    noteWrite(typeFor(options, object), object, live, write);
  return {
    get: async (resource, namespace, name) => lookup.get(resource, namespace, name),
    async list(resource) {
      return (await lookup.list(resource, '')).map((stored) => stored.object());
    },
    async create(resource, object, manager) {
      const life = context();
      note(object, undefined, { manager, subresource: '', time: life.now() });
      try {
        await operations.create(resource, object.metadata.namespace ?? '', object, life);
        return true;
      } catch (error) {
        if (isStatus(error, 409)) return false;
        throw error;
      }
    },
    async update({ resource, object, change, manager, subresource = '' }) {
      const life = context();
      const { namespace = '', name = '' } = object.metadata;
      const changeAndNote = (current: KubeObject): KubeObject => {
        const live = structuredClone(current);
        const changed = change(current);
        note(changed, live, { manager, subresource, time: life.now() });
        return changed;
      };
      await operations.update({ resource, namespace, name, subresource, change: changeAndNote, context: life });
    },
    async apply({ resource, object, configuration, manager, subresource = '' }) {
      const life = context();
      const { namespace = '', name = '' } = object.metadata;
      const type = typeFor(options, configuration);
      const write = { manager, subresource, time: life.now(), resetFields: resetFieldsOf(subresource) };
      const change = (current: KubeObject): KubeObject => applied(type, current, configuration, write);
      await operations.update({ resource, namespace, name, subresource, change, context: life });
    },
    async delete(resource, object, deleteOptions) {
      const { namespace = '', name = '', uid } = object.metadata;
      const same = uid === undefined ? {} : { preconditions: { uid } };
      try {
        await operations.delete({
          resource,
          namespace,
          name,
          options: { ...same, ...deleteOptions },
          context: context(),
        });
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
      }
    },
  };
}

interface NotedWrite {
  readonly manager: string;
  readonly subresource: string;
  readonly time: Date;
}

function noteWrite(
  type: StructType,
  object: KubeObject,
  live: KubeObject | undefined,
  { manager, subresource, time }: NotedWrite,
): void {
  const apiVersion = object.apiVersion ?? '';
  const resetFields = resetFieldsOf(subresource);
  updateManagedFields({ type, live, newObject: object, manager, apiVersion, subresource, time, resetFields });
}

/** What no writer of the endpoint can own. */
const resetFieldsOf = (subresource: string): ResetFields => (subresource === '' ? STATUS : SPEC);

type ResetFields = readonly (readonly string[])[];
// The lists are constants, because what is computed from a list is memoized by its identity.
const STATUS: ResetFields = [['status']];
const SPEC: ResetFields = [['spec']];

function applied(
  type: StructType,
  current: KubeObject,
  configuration: KubeObject,
  write: { manager: string; subresource: string; time: Date; resetFields: ResetFields },
): KubeObject {
  const { apiVersion = '', kind = '' } = configuration;
  const tree = applyPatch({ ...write, type, kind, apiVersion, live: current, patch: configuration, force: true });
  return decodeTree(type, tree, { strict: false }).object as KubeObject;
}

function typeFor({ customType }: ServerClientOptions, { apiVersion = '', kind = '' }: KubeObject): StructType {
  const { group, version } = parseApiVersion(apiVersion);
  const type = typeOf(group, version, kind) ?? customType?.({ group, version, kind });
  if (type === undefined) throw new Error(`no type for ${apiVersion} ${kind}`);
  return type;
}

const isStatus = (error: unknown, code: number): boolean => error instanceof StatusError && error.code === code;

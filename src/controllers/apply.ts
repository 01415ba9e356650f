import { type JsonObject, type KubeObject, parseApiVersion } from '../machinery/object.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { applyPatch } from '../schema/apply/apply-patch.js';
import { typeOf } from '../schema/catalogue.js';
import { decodeTree } from '../schema/json/decode.js';
import type { ControllerClient } from './controller.js';

/** Server-side apply of a built-in object that exists, in the version it is stored in. */
export function createApply(operations: ObjectOperations, context: () => LifeContext): ControllerClient['apply'] {
  return async (resource, object, configuration, manager) => {
    const { apiVersion = '', kind = '' } = configuration;
    const { group, version } = parseApiVersion(apiVersion);
    const type = typeOf(group, version, kind);
    if (type === undefined) throw new Error(`no type for ${apiVersion} ${kind}`);
    const life = context();
    const { namespace = '', name = '' } = object.metadata;
    const change = (current: KubeObject): KubeObject => {
      const applied = applyPatch({
        type,
        kind,
        apiVersion,
        live: current as unknown as JsonObject,
        patch: configuration as unknown as JsonObject,
        manager,
        force: true,
        subresource: '',
        time: life.now(),
      });
      return decodeTree(type, applied, { strict: false }).object as unknown as KubeObject;
    };
    await operations.update(resource, namespace, name, '', change, life);
  };
}

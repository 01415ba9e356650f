// What server-side apply needs to know of a kind's other versions.
import { apiVersionOf, type JsonObject, type KubeObject, parseApiVersion } from '../machinery/object.js';
import type { Versions } from '../schema/apply/versions.js';
import { typeOf } from '../schema/catalogue.js';
import { deepCopy } from '../schema/deep-copy.js';
import type { KindVersion } from '../registry/kind.js';
import type { Endpoint } from './endpoint.js';

const remembered = new WeakMap<Endpoint, Versions>();

export function versionsOf(endpoint: Endpoint): Versions {
  let known = remembered.get(endpoint);
  if (known === undefined) remembered.set(endpoint, (known = createVersions(endpoint)));
  return known;
}

function createVersions({ definition, kind, type }: Endpoint): Versions {
  const versionAt = (apiVersion: string): KindVersion | undefined => {
    const { group, version } = parseApiVersion(apiVersion);
    return group === definition.group ? definition.versions.find((one) => one.version === version) : undefined;
  };
  return {
    typeAt(apiVersion) {
      if (apiVersion === apiVersionOf(kind)) return type;
      const version = versionAt(apiVersion);
      return version === undefined
        ? undefined
        : (version.type ?? typeOf(definition.group, version.version, definition.kind));
    },
    convert(object, fromApiVersion, toApiVersion) {
      const from = versionAt(fromApiVersion);
      const to = versionAt(toApiVersion);
      let converted = deepCopy(object) as unknown as KubeObject;
      if (from?.toStorage !== undefined) converted = from.toStorage(converted);
      if (to?.fromStorage !== undefined) converted = to.fromStorage(converted);
      converted.apiVersion = toApiVersion;
      return converted as unknown as JsonObject;
    },
  };
}

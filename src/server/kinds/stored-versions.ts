// Versions that a store may hold objects in: what another release keeps them in lies there until somebody writes it again.
import { apiVersionOf, parseApiVersion, type KubeObject } from '../../machinery/object.js';
import { formerVersion } from '../../registry/former-versions.js';
import type { KindDefinition } from '../../registry/kind.js';
import { unknownConversion, unknownKind } from '../../rest/body/decode-body.js';
import { storageVersionOf } from '../../rest/contract/endpoint.js';
import type { StoredVersion, StoredVersions } from '../../rest/wire/object-codec.js';
import { DecodeError } from '../../schema/json/decode.js';
import { typeOf } from '../../schema/catalogue.js';

/** How objects of a kind are read that lie in another version than the one they are kept in. */
export function storedVersions(definition: KindDefinition): StoredVersions {
  const kept = storageVersionOf(definition);
  const keptText = apiVersionOf(kept);
  const keptVersion = definition.versions.find(({ version }) => version === kept.version);
  const inKept = (object: KubeObject): KubeObject =>
    Object.assign(object, { kind: definition.kind, apiVersion: keptText });
  const checkKind = ({ kind = '', apiVersion = keptText }: KubeObject): void => {
    if (kind === '' || kind === definition.kind) return;
    const said = { ...parseApiVersion(apiVersion), kind };
    const isKnown = typeOf(said.group, said.version, kind) !== undefined;
    const to = { ...kept, kind: definition.kind };
    throw new DecodeError(isKnown ? unknownConversion(said, to) : unknownKind(to, kind, apiVersion));
  };
  return {
    ofKind(object) {
      checkKind(object);
      object.metadata ??= {};
      return inKept(object);
    },
    other(apiVersion): StoredVersion | undefined {
      if (apiVersion === keptText || apiVersion === '') return undefined;
      const { group, version } = parseApiVersion(apiVersion);
      const served = definition.versions.find((one) => group === kept.group && one.version === version);
      const isFormer = formerVersion(definition.kind, apiVersion) !== undefined;
      const type =
        served === undefined && isFormer
          ? typeOf(kept.group, kept.version, definition.kind)
          : typeOf(group, version, definition.kind);
      if (type === undefined || (served === undefined && !isFormer)) {
        throw new DecodeError(unknownKind({ ...kept, kind: definition.kind }, definition.kind, apiVersion));
      }
      return {
        type,
        toKept(object) {
          checkKind(object);
          if (served === undefined) definition.storage?.fromFormer?.(object);
          const written = served ?? keptVersion;
          written?.defaults?.(object);
          return inKept(served?.toStorage?.(object) ?? object);
        },
      };
    },
  };
}

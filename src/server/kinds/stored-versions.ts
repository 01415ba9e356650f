// Versions that a store may hold objects in: what another release keeps them in lies there until somebody writes it again.
import { apiVersionOf, parseApiVersion, type KubeObject } from '../../machinery/object.js';
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
      const isFormer = FORMER[kept.group]?.includes(apiVersion) === true && !RESHAPED.has(definition.kind);
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
          const written = served ?? keptVersion;
          written?.defaults?.(object);
          return inKept(served?.toStorage?.(object) ?? object);
        },
      };
    },
  };
}

/** Kinds that former versions had in another shape, which is not read. */
const RESHAPED: ReadonlySet<string> = new Set(['Ingress']);

/** By group, versions that are served no more, and in which the numbers of fields mean what they mean in the one that is kept. */
const FORMER: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io': ['admissionregistration.k8s.io/v1beta1', 'admissionregistration.k8s.io/v1alpha1'],
  'apiregistration.k8s.io': ['apiregistration.k8s.io/v1beta1'],
  apps: ['apps/v1beta2', 'apps/v1beta1', 'extensions/v1beta1'],
  autoscaling: ['autoscaling/v2beta2'],
  batch: ['batch/v1beta1'],
  'certificates.k8s.io': ['certificates.k8s.io/v1beta1'],
  'coordination.k8s.io': ['coordination.k8s.io/v1beta1'],
  'discovery.k8s.io': ['discovery.k8s.io/v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1beta3', 'v1beta2', 'v1beta1'].map(
    (version) => `flowcontrol.apiserver.k8s.io/${version}`,
  ),
  'networking.k8s.io': ['networking.k8s.io/v1beta1', 'extensions/v1beta1'],
  'node.k8s.io': ['node.k8s.io/v1beta1'],
  policy: ['policy/v1beta1'],
  'rbac.authorization.k8s.io': ['rbac.authorization.k8s.io/v1beta1'],
  'scheduling.k8s.io': ['scheduling.k8s.io/v1beta1', 'scheduling.k8s.io/v1alpha1'],
  'storage.k8s.io': ['storage.k8s.io/v1beta1', 'storage.k8s.io/v1alpha1'],
};

// The objects that a binding selects as its policy's parameters.
import { errorText } from '../../lib/text/error-text.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { labelSelectorAsSelector } from '../../machinery/label-selector.js';
import { type GroupVersionKind, type KubeObject, parseApiVersion } from '../../machinery/object.js';
import type { ParamKind, ParamRef } from '../../schema/generated/admissionregistration.v1.js';
import { loadedAll } from '../../storage/store.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { Fault } from '../matching/match.js';
import type { ServedResources } from '../matching/seen-request.js';

/** The resource that holds a policy's parameters. */
export interface ParamResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
}

export type ResourceOf = (
  kind: GroupVersionKind,
) => { readonly resource: string; readonly namespaced: boolean } | undefined;

/** Undefined where the policy has no parameters. Resolved on each use: custom resources come and go. */
export function paramResource(
  paramKind: ParamKind | undefined,
  resourceOf: ResourceOf,
): ParamResource | Fault | undefined {
  if (paramKind === undefined) return undefined;
  const { apiVersion = '', kind = '' } = paramKind;
  const { group, version } = parseApiVersion(apiVersion);
  const found = resourceOf({ group, version, kind });
  if (found !== undefined) return { group, version, ...found };
  return { fault: `failed to find resource referenced by paramKind: '${group}/${version}, Kind=${kind}'` };
}

type Params = readonly (Readonly<KubeObject> | null)[];

/** Without parameters a policy is applied once, with none; with a selector once for each object it selects. */
export function collectParams(
  resource: ParamResource | undefined,
  reference: ParamRef | undefined,
  attributes: AdmissionAttributes,
  served: ServedResources,
): MaybePromise<Params | Fault> {
  if (resource === undefined || reference === undefined) return [null];
  const { name = '', namespace: stated = '', selector } = reference;
  const { lookup } = attributes.context;
  let namespace = '';
  if (resource.namespaced) {
    namespace = stated === '' ? attributes.namespace : stated;
    if (namespace === '') {
      return { fault: 'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources' };
    }
  } else if (stated !== '') {
    return { fault: 'paramRef.namespace must not be provided for a cluster-scoped `paramKind`' };
  }
  const found = (objects: readonly Readonly<KubeObject>[]): MaybePromise<Params | Fault> => {
    if (objects.length === 0 && reference.parameterNotFoundAction === 'Deny') {
      return { fault: 'no params found for policy binding with `Deny` parameterNotFoundAction' };
    }
    return inVersion(objects, resource, served);
  };
  if (name !== '') {
    if (selector !== undefined) return { fault: 'paramRef.name and paramRef.selector are mutually exclusive' };
    return whenReady(lookup.get(resource, namespace, name), (object) => found(object === undefined ? [] : [object]));
  }
  if (selector === undefined) return { fault: 'one of name or selector must be provided' };
  try {
    const selected = labelSelectorAsSelector(selector);
    return whenReady(lookup.list(resource, namespace), (stored) =>
      loadedAll(stored.filter(({ labels }) => selected.matches(labels))).then(found),
    );
  } catch (error) {
    return { fault: errorText(error) };
  }
}

/** The parameters in the version the policy names. */
function inVersion(
  objects: readonly Readonly<KubeObject>[],
  resource: ParamResource,
  served: ServedResources,
): MaybePromise<Params> {
  const converting = objects.map((object) => served.convert(resource, object));
  const seen = (index: number): Readonly<KubeObject> | null =>
    objects[index] === undefined ? null : served.inVersion(resource, objects[index]);
  if (converting.every((each) => each === undefined)) return objects.map((_object, index) => seen(index));
  return Promise.all(converting.map(async (each, index) => each ?? seen(index)));
}

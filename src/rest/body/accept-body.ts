// What a body is held against, and what of it is put right, before anything else is made of it.
import type { KubeObject } from '../../machinery/object.js';
import { badRequest } from '../../machinery/status.js';
import { matchNamespace, wipeSystemFields } from '../../registry/system-fields.js';
import type { Expected } from './decode-body.js';
import type { Endpoint } from '../contract/endpoint.js';
import { dedupOwnerReferences } from './owner-references.js';

/** What the path says of the object. */
export interface Addressed {
  readonly namespace: string;
  readonly name: string;
}

type Warn = (text: string) => void;

export function acceptNew(endpoint: Endpoint, object: KubeObject, { namespace }: Addressed, warn: Warn): void {
  wipeSystemFields(object);
  matchNamespace(object, endpoint.definition.namespaced, namespace);
  dedupOwnerReferences(object, warn, false);
}

export function acceptChanged(endpoint: Endpoint, object: KubeObject, path: Addressed, warn: Warn): void {
  matchNamespace(object, endpoint.definition.namespaced, path.namespace);
  checkName(object, path.name);
  dedupOwnerReferences(object, warn, false);
}

/** The name in a body must be the one in the path. */
export function checkName(object: KubeObject, name: string): void {
  const stated = object.metadata.name ?? '';
  if (stated === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (stated !== name) {
    throw badRequest(`the name of the object (${stated}) does not match the name on the URL (${name})`);
  }
}

/** What the body of a write to an endpoint must be. */
export function expectedOf(endpoint: Endpoint, subresource = ''): Expected {
  let known = expectations.get(endpoint);
  if (known === undefined) {
    const { kind, type, version } = endpoint;
    known = {
      kind,
      type,
      defaults: version.defaults?.bind(version),
      unconvertible: version.unconvertible?.bind(version),
    };
    expectations.set(endpoint, known);
  }
  return subresource === 'status' && endpoint.definition.custom ? { ...known, anyKind: true } : known;
}

const expectations = new WeakMap<Endpoint, Expected>();

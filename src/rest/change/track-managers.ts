import { wasExplicitEmpty } from '../../machinery/explicit-empty.js';
import { apiVersionOf, type KubeObject } from '../../machinery/object.js';
import { namedOtherKind } from '../../machinery/other-kind.js';
import type { StepGenerator } from '../../lib/scheduling/yield.js';
import { managedFieldSteps, type UpdateWrite } from '../../schema/apply/field-manager.js';
import type { Versions } from '../../schema/apply/versions.js';
import { deepCopySteps } from '../../schema/deep-copy.js';
import { type Endpoint, inVersion, toStorage } from '../contract/endpoint.js';

export interface Write {
  /** The object as it is, in the endpoint's version; undefined when it is new. */
  readonly live: Readonly<KubeObject> | undefined;
  /** The object as it shall be, in the endpoint's version. */
  readonly object: KubeObject;
  readonly manager: string;
  readonly subresource: string;
  readonly now: Date;
  /** The client emptied the managed fields to start them over. */
  readonly reset?: boolean;
  /** `object` was sent in a small body. */
  readonly small?: boolean;
  /** The kind's other versions, in which others may own fields. */
  readonly versions: Versions;
}

/** Notes in metadata.managedFields which fields this writer has set. */
export function trackManagers(endpoint: Endpoint, write: Write): StepGenerator<void> {
  if (endpoint.definition.custom && namedOtherKind(write.object)) return forget(write.object);
  return endpoint.version.toStorage === undefined
    ? managedFieldSteps(tracked(endpoint, write))
    : noteRead(endpoint, write);
}

function* forget({ metadata }: KubeObject): StepGenerator<void> {
  yield;
  delete metadata.managedFields;
}

/** What is stored otherwise than it was sent is owned as it will be read: with the annotations that carry the rest. */
function* noteRead(endpoint: Endpoint, write: Write): StepGenerator<void> {
  const newObject = inVersion(endpoint, toStorage(endpoint, yield* deepCopySteps(write.object)));
  yield* managedFieldSteps({ ...tracked(endpoint, write), newObject });
  const { managedFields } = newObject.metadata;
  if (managedFields === undefined) delete write.object.metadata.managedFields;
  else write.object.metadata.managedFields = managedFields;
}

// hot: each member by name, for spreading those that may be there costs more than noting a small object.
function tracked(endpoint: Endpoint, write: Write): UpdateWrite<KubeObject> {
  return {
    type: endpoint.type,
    live: write.live,
    newObject: write.object,
    manager: write.manager,
    apiVersion: apiVersionOf(endpoint.kind),
    subresource: write.subresource,
    time: write.now,
    reset:
      write.reset === true || (write.live !== undefined && wasExplicitEmpty(write.object.metadata, 'managedFields')),
    small: write.small === true,
    resetFields: resetFieldsOf(endpoint, write.subresource),
    versions: write.versions,
  };
}

/** The fields an endpoint cannot change, so that nobody comes to own them through it. */
export function resetFieldsOf({ definition }: Endpoint, subresource: string): readonly (readonly string[])[] {
  const stated = definition.strategy.resetFields?.[subresource];
  if (stated !== undefined) return stated;
  if (!definition.strategy.hasStatus) return NOTHING;
  return subresource === '' ? STATUS : subresource === 'status' ? SPEC : NOTHING;
}

// The lists are constants, because what is computed from a list is memoized by its identity.
const NOTHING: readonly (readonly string[])[] = [];
const STATUS = [['status']] as const;
const SPEC = [['spec']] as const;

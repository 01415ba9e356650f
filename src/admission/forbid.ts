import { forbidden, type StatusError } from '../machinery/status.js';
import type { AdmissionAttributes, AdmissionWork, LooksAt, Round } from './plugin.js';

/** A plugin's refusal, about the object as far as it has a name yet. */
export function forbid(attributes: AdmissionAttributes, why: string): StatusError {
  const { resource, name, object } = attributes;
  const known = name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
  return forbidden({ group: resource.group, resource: resource.resource }, known, why);
}

/** True for requests on the resource itself, or on the subresource given. */
export const isFor = (
  { resource, subresource }: AdmissionAttributes,
  group: string,
  plural: string,
  wanted = '',
): boolean => resource.resource === plural && resource.group === group && subresource === wanted;

/** A plugin's work on one resource; writes to all others pass it unseen. */
export const onlyFor = (group: string, plural: string, work: AdmissionWork, wanted = ''): AdmissionWork =>
  onlyWhere(
    ({ group: own, resource }, subresource) => resource === plural && own === group && subresource === wanted,
    work,
  );

/** A plugin's work on some resources. */
export const onlyWhere = (only: LooksAt, work: AdmissionWork): AdmissionWork =>
  Object.assign(
    (attributes: AdmissionAttributes, round: Round) =>
      only(attributes.resource, attributes.subresource) ? work(attributes, round) : undefined,
    { only },
  );

import { forbidden, type StatusError } from '../machinery/status.js';
import type { AdmissionAttributes } from './plugin.js';

/** A plugin's refusal, about the object as far as it has a name yet. */
export function forbid(attributes: AdmissionAttributes, why: string): StatusError {
  const { resource, name, object } = attributes;
  const known = name || object?.metadata.name || object?.metadata.generateName || 'Unknown';
  return forbidden({ group: resource.group, resource: resource.resource }, known, why);
}

/** True for requests on the resource itself, not on one of its subresources. */
export const isFor = ({ resource, subresource }: AdmissionAttributes, group: string, plural: string): boolean =>
  resource.resource === plural && resource.group === group && subresource === '';

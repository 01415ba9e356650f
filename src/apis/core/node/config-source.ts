// The configuration a node once read from a config map. No node does any more; stored ones are still checked.
import {
  type FieldErrors,
  type FieldPath,
  forbidden,
  invalid,
  required,
  Verbatim,
} from '../../../machinery/field-error.js';
import { invalidEach } from '../../../machinery/validation/fields.js';
import { isConfigMapKey, isDns1123Label, isDns1123Subdomain } from '../../../machinery/validation/names.js';
import type {
  ConfigMapNodeConfigSource,
  NodeConfigSource,
  NodeConfigStatus,
} from '../../../schema/generated/core.v1.js';

export const validateConfigSource = (source: Readonly<NodeConfigSource>, path: FieldPath): FieldErrors =>
  validateSource(source, path, (map, at) => [
    ...(map.uid ? [forbidden(at.child('uid'), 'uid must not be set in spec')] : []),
    ...(map.resourceVersion ? [forbidden(at.child('resourceVersion'), 'resourceVersion must not be set in spec')] : []),
  ]);

export function validateConfigStatus(status: Readonly<NodeConfigStatus>, path: FieldPath): FieldErrors {
  return (['assigned', 'active', 'lastKnownGood'] as const).flatMap((member) => {
    const source = status[member];
    if (source === undefined) return [];
    return validateSource(source, path.child(member), (map, at) => [
      ...(map.uid ? [] : [required(at.child('uid'))]),
      ...(map.resourceVersion ? [] : [required(at.child('resourceVersion'))]),
    ]);
  });
}

function validateSource(
  { configMap }: Readonly<NodeConfigSource>,
  path: FieldPath,
  pinned: (map: Readonly<ConfigMapNodeConfigSource>, path: FieldPath) => FieldErrors,
): FieldErrors {
  if (configMap === undefined) {
    return [invalid(path, new Verbatim('{"ConfigMap":null}'), 'exactly one reference subfield must be non-nil')];
  }
  const at = path.child('configMap');
  const named = (member: 'namespace' | 'name' | 'kubeletConfigKey', rule: (value: string) => string[]): FieldErrors =>
    configMap[member] === ''
      ? [required(at.child(member))]
      : invalidEach(at.child(member), configMap[member], rule(configMap[member]));
  return [
    ...pinned(configMap, at),
    ...named('namespace', isDns1123Label),
    ...named('name', isDns1123Subdomain),
    ...named('kubeletConfigKey', isConfigMapKey),
  ];
}

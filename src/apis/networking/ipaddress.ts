import { deepEqual } from '../../lib/values/deep-equal.js';
import { type FieldErrors, FieldPath, invalid, required } from '../../machinery/field-error.js';
import { IMMUTABLE, invalidEach } from '../../machinery/validation/fields.js';
import { ipFaults } from '../../machinery/validation/ip.js';
import { isDns1123Subdomain, pathSegmentName } from '../../machinery/validation/names.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition } from '../../registry/kind.js';
import { ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { IPAddress, ParentReference } from '../../schema/generated/networking.v1.js';
import { requiredSegment } from './typed-reference.js';

const PARENT = FieldPath.of('spec', 'parentRef');

/** One allocated address; the object's name is the address. */
export const ipAddresses: KindDefinition<IPAddress> = {
  group: 'networking.k8s.io',
  kind: 'IPAddress',
  plural: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  namespaced: false,
  versions: [
    { version: 'v1' },
    {
      version: 'v1beta1',
      enabledByDefault: false,
      ...deprecated('networking.k8s.io/v1beta1 IPAddress', { in: '1.34', removedIn: '1.37' }),
    },
  ],
  storageVersion: 'v1',
  strategy: {
    metadataRules: {
      placedOnUpdate: true,
      validateName: (name) => ipFaults(name),
      usesGenerateNameAsIs: true,
    },
    validate,
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...whole,
      ...validate(object),
      ...change,
      ...keepParent(object, old),
    ],
  },
  table: {
    // The age has a cell but, in kube-apiserver, no column: kubectl does not show it.
    columns: [NAME_COLUMN, column('ParentRef', 'What has taken the address.')],
    row: (object, now) => [object.metadata.name ?? '', parentCell(object.spec.parentRef), ageCell(object, now)],
  },
};

function validate({ spec }: Readonly<IPAddress>): FieldErrors {
  const parent = spec.parentRef;
  if (parent === undefined) return [required(PARENT)];
  const { group, resource = '', name = '', namespace } = parent;
  return [
    ...(group ? invalidEach(PARENT.child('group'), group, isDns1123Subdomain(group)) : []),
    ...requiredSegment(resource, PARENT.child('resource')),
    ...requiredSegment(name, PARENT.child('name')),
    ...(namespace ? invalidEach(PARENT.child('namespace'), namespace, pathSegmentName(namespace, false)) : []),
  ];
}

function keepParent({ spec }: Readonly<IPAddress>, old: Readonly<IPAddress>): FieldErrors {
  if (deepEqual(spec.parentRef, old.spec.parentRef)) return [];
  return [invalid(PARENT, spec.parentRef === undefined ? undefined : shownParent(spec.parentRef), IMMUTABLE)];
}

/** The parent reference in the shape kube-apiserver shows it in errors. */
const shownParent = ({ group = '', resource = '', namespace = '', name = '' }: Readonly<ParentReference>) => ({
  Group: group,
  Resource: resource,
  Namespace: namespace,
  Name: name,
});

function parentCell(parent: Readonly<ParentReference> | undefined): string {
  if (parent === undefined) return '<none>';
  const { group, resource = '', namespace, name = '' } = parent;
  const kind = (group ? `${resource}.${group}` : resource).toLowerCase();
  return [kind, ...(namespace ? [namespace] : []), name].join('/');
}

import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import { pathSegmentName } from '../../machinery/validation/names.js';
import {
  AGE_COLUMN,
  ageCell,
  column,
  CREATED_COLUMNS,
  createdRow,
  NAME_COLUMN,
  wideColumn,
} from '../../registry/columns.js';
import type { Cell, Column, KindDefinition } from '../../registry/kind.js';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from '../../schema/generated/rbac.v1.js';
import { type EscalationServices, checkBinding, checkRoleEscalation } from './escalation.js';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateClusterRoleBindingUpdate,
  validateClusterRoleUpdate,
  validateRole,
  validateRoleBinding,
  validateRoleBindingUpdate,
  validateRoleUpdate,
} from './validation.js';

/** Roles and bindings. Their writes are checked against what the writer holds, hence the services. */
export function rbacKinds(services: EscalationServices): readonly KindDefinition[] {
  return [role(services), roleBinding(services), clusterRole(services), clusterRoleBinding(services)];
}

function role(services: EscalationServices): KindDefinition<Role> {
  return {
    group: RBAC_GROUP,
    kind: 'Role',
    plural: 'roles',
    singular: 'role',
    namespaced: true,
    versions: [{ version: 'v1' }],
    storageVersion: 'v1',
    strategy: {
      validateName: pathSegmentName,
      allowCreateOnUpdate: true,
      validate: validateRole,
      validateUpdate: validateRoleUpdate,
      canonicalize: emptyRulesAreNull,
      beginCreate: async (object, context) => {
        await checkRoleEscalation(services, 'roles', object, undefined, context);
        return undefined;
      },
      beginUpdate: async (object, old, context) => {
        await checkRoleEscalation(services, 'roles', object, old, context);
        return undefined;
      },
    },
    columns: CREATED_COLUMNS,
    row: createdRow,
  };
}

function clusterRole(services: EscalationServices): KindDefinition<ClusterRole> {
  return {
    group: RBAC_GROUP,
    kind: 'ClusterRole',
    plural: 'clusterroles',
    singular: 'clusterrole',
    namespaced: false,
    versions: [{ version: 'v1' }],
    storageVersion: 'v1',
    strategy: {
      validateName: pathSegmentName,
      allowCreateOnUpdate: true,
      validate: (object) => validateClusterRole(object),
      validateUpdate: validateClusterRoleUpdate,
      canonicalize: emptyRulesAreNull,
      beginCreate: async (object, context) => {
        await checkRoleEscalation(services, 'clusterroles', object, undefined, context);
        return undefined;
      },
      beginUpdate: async (object, old, context) => {
        await checkRoleEscalation(services, 'clusterroles', object, old, context);
        return undefined;
      },
    },
    columns: CREATED_COLUMNS,
    row: createdRow,
  };
}

function roleBinding(services: EscalationServices): KindDefinition<RoleBinding> {
  return {
    group: RBAC_GROUP,
    kind: 'RoleBinding',
    plural: 'rolebindings',
    singular: 'rolebinding',
    namespaced: true,
    versions: [{ version: 'v1', defaults: defaultBinding }],
    storageVersion: 'v1',
    strategy: {
      validateName: pathSegmentName,
      allowCreateOnUpdate: true,
      validate: validateRoleBinding,
      validateUpdate: validateRoleBindingUpdate,
      beginCreate: async (object, context) => {
        await checkBinding(services, 'rolebindings', object, undefined, context);
        return undefined;
      },
      beginUpdate: async (object, old, context) => {
        await checkBinding(services, 'rolebindings', object, old, context);
        return undefined;
      },
    },
    columns: bindingColumns('roleBinding'),
    row: bindingRow,
  };
}

function clusterRoleBinding(services: EscalationServices): KindDefinition<ClusterRoleBinding> {
  return {
    group: RBAC_GROUP,
    kind: 'ClusterRoleBinding',
    plural: 'clusterrolebindings',
    singular: 'clusterrolebinding',
    namespaced: false,
    versions: [{ version: 'v1', defaults: defaultBinding }],
    storageVersion: 'v1',
    strategy: {
      validateName: pathSegmentName,
      allowCreateOnUpdate: true,
      validate: validateClusterRoleBinding,
      validateUpdate: validateClusterRoleBindingUpdate,
      beginCreate: async (object, context) => {
        await checkBinding(services, 'clusterrolebindings', object, undefined, context);
        return undefined;
      },
      beginUpdate: async (object, old, context) => {
        await checkBinding(services, 'clusterrolebindings', object, old, context);
        return undefined;
      },
    },
    columns: bindingColumns('clusterRoleBinding'),
    row: bindingRow,
  };
}

/** A list that prints even when it is empty prints as null once it has been stored, whatever was sent. */
function emptyRulesAreNull(role: Role): void {
  if (role.rules?.length === 0) role.rules = null;
}

function defaultBinding(binding: RoleBinding): void {
  if (binding.roleRef.apiGroup === '') binding.roleRef.apiGroup = RBAC_GROUP;
  for (const subject of binding.subjects ?? []) {
    if (!subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')) subject.apiGroup = RBAC_GROUP;
  }
}

const bindingColumns = (kind: string): readonly Column[] => [
  NAME_COLUMN,
  column('Role', 'The role whose rules the subjects are given.'),
  AGE_COLUMN,
  wideColumn('Users', `Users in the ${kind}`),
  wideColumn('Groups', `Groups in the ${kind}`),
  wideColumn('ServiceAccounts', `ServiceAccounts in the ${kind}`),
];

function bindingRow(binding: Readonly<RoleBinding>, now: Date): readonly Cell[] {
  const named = (kind: string, text: (subject: Subject) => string) =>
    (binding.subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map(text)
      .join(', ');
  return [
    binding.metadata.name ?? '',
    `${binding.roleRef.kind}/${binding.roleRef.name}`,
    ageCell(binding, now),
    named('User', (subject) => subject.name),
    named('Group', (subject) => subject.name),
    named('ServiceAccount', (subject) => `${subject.namespace ?? ''}/${subject.name}`),
  ];
}

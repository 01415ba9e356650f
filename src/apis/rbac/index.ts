import { RBAC_GROUP } from '../../authz/rbac-objects.js';
import type { KubeObject } from '../../machinery/object.js';
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
import type { Cell, Column, KindDefinition, LifeContext, Strategy, TransactionHooks } from '../../registry/kind.js';
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from '../../schema/generated/rbac.v1.js';
import { type EscalationServices, checkBinding, checkRoleEscalation } from './escalation.js';
import {
  validateClusterRole,
  validateClusterRoleBinding,
  validateBindingUpdate,
  validateClusterRoleUpdate,
  validateRole,
  validateRoleBinding,
  validateRoleUpdate,
} from './validation.js';

/** Roles and bindings. Their writes are checked against what the writer holds, hence the services. */
export function rbacKinds(services: EscalationServices): readonly KindDefinition[] {
  return [role(services), roleBinding(services), clusterRole(services), clusterRoleBinding(services)];
}

const role = (services: EscalationServices): KindDefinition<Role> => ({
  ...ROLE,
  kind: 'Role',
  plural: 'roles',
  singular: 'role',
  namespaced: true,
  strategy: {
    ...ROLE_STRATEGY,
    transaction: guarded((object, old, context) =>
      checkRoleEscalation(services, { resource: 'roles', role: object, old, context }),
    ),
    validate: validateRole,
    validateUpdate: (object, _old, _context, metadata) => validateRoleUpdate(object, metadata),
  },
});

const clusterRole = (services: EscalationServices): KindDefinition<ClusterRole> => ({
  ...ROLE,
  kind: 'ClusterRole',
  plural: 'clusterroles',
  singular: 'clusterrole',
  namespaced: false,
  strategy: {
    ...ROLE_STRATEGY,
    transaction: guarded((object, old, context) =>
      checkRoleEscalation(services, { resource: 'clusterroles', role: object, old, context }),
    ),
    validate: (object) => validateClusterRole(object),
    validateUpdate: (object, old, _context, metadata) => validateClusterRoleUpdate(object, old, metadata),
  },
});

const roleBinding = (services: EscalationServices): KindDefinition<RoleBinding> => ({
  ...BINDING,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  singular: 'rolebinding',
  namespaced: true,
  strategy: {
    ...STRATEGY,
    transaction: guarded((object, old, context) =>
      checkBinding(services, { resource: 'rolebindings', binding: object, old, context }),
    ),
    validate: validateRoleBinding,
    validateUpdate: (object, old, _context, metadata) => validateBindingUpdate(object, old, true, metadata),
  },
  table: { columns: bindingColumns('roleBinding'), row: bindingRow },
});

const clusterRoleBinding = (services: EscalationServices): KindDefinition<ClusterRoleBinding> => ({
  ...BINDING,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  singular: 'clusterrolebinding',
  namespaced: false,
  strategy: {
    ...STRATEGY,
    transaction: guarded((object, old, context) =>
      checkBinding(services, { resource: 'clusterrolebindings', binding: object, old, context }),
    ),
    validate: validateClusterRoleBinding,
    validateUpdate: (object, old, _context, metadata) => validateBindingUpdate(object, old, false, metadata),
  },
  table: { columns: bindingColumns('clusterRoleBinding'), row: bindingRow },
});

const ROLE = {
  group: RBAC_GROUP,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  table: { columns: CREATED_COLUMNS, row: createdRow },
};
const BINDING = {
  group: RBAC_GROUP,
  versions: [{ version: 'v1', defaults: defaultBinding }],
  storageVersion: 'v1',
};
/** What a name is made from must be one itself. */
const validateName = (name: string): string[] => pathSegmentName(name, false);
const STRATEGY = {
  metadataRules: { validateName, placedOnUpdate: true },
  allowCreateOnUpdate: true,
} satisfies Partial<Strategy>;
const ROLE_STRATEGY = { ...STRATEGY, pruneForStorage: emptyRulesAreNull };

/** A check that stands before every write; `old` is absent on creation. */
function guarded<T extends KubeObject>(
  check: (object: Readonly<T>, old: Readonly<T> | undefined, context: LifeContext) => Promise<void>,
): TransactionHooks<T> {
  return {
    beginCreate: async (object, context) => {
      await check(object, undefined, context);
      return undefined;
    },
    beginUpdate: async (object, old, context) => {
      await check(object, old, context);
      return undefined;
    },
  };
}

/** A list without omitempty encodes as null once it is stored empty, whatever was sent. */
function emptyRulesAreNull(object: Role): boolean {
  if (object.rules?.length !== 0) return false;
  object.rules = null;
  return true;
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

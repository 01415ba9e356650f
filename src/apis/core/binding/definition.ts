import { NAME_COLUMN } from '../../../registry/columns.js';
import type { KindDefinition, ObjectOperations } from '../../../registry/kind.js';
import type { Binding } from '../../../schema/generated/core.v1.js';
import { bindPod } from '../pod/binding.js';

export interface BindingParts {
  readonly operations: () => ObjectOperations;
}

/** The old way to bind a pod: posted to the namespace, it does what posting to the pod's subresource does. */
export const bindingKind = ({ operations }: BindingParts): KindDefinition<Binding> => ({
  group: '',
  kind: 'Binding',
  plural: 'bindings',
  singular: 'binding',
  namespaced: true,
  verbs: ['create'],
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: { validate: () => [], validateUpdate: () => [] },
  table: { columns: [NAME_COLUMN], row: ({ metadata }) => [metadata.name ?? ''] },
  virtual: {
    create: async (body, context) => {
      const name = body.metadata.name ?? '';
      const action = { name, namespace: context.namespace, body, context, operations: operations() };
      return (await bindPod(action)).object;
    },
  },
});

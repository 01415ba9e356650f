// The server's own writes to definitions: always to their status, and noted under its name.
import { setCondition } from '../apis/apiextensions/definition.js';
import type { KubeObject } from '../machinery/object.js';
import { StatusError } from '../machinery/status.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { SERVER_MANAGER } from '../registry/server-client.js';
import { updateManagedFields } from '../schema/apply/field-manager.js';
import { deepCopy } from '../schema/deep-copy.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';
import { definitionType } from './definition-json.js';

const GROUP = 'apiextensions.k8s.io';
export const DEFINITIONS = { group: GROUP, resource: 'customresourcedefinitions' };

export interface DefinitionWriter {
  /**
   * Changes the status of a definition, of the newest version there is. `change` answers false to leave it as it is.
   * Answers the definition as it is then; undefined when it is gone.
   */
  update(
    name: string,
    change: (definition: CustomResourceDefinition, set: (condition: Condition) => void) => boolean,
  ): Promise<CustomResourceDefinition | undefined>;
}

export interface WriterOptions {
  readonly operations: ObjectOperations;
  readonly context: () => LifeContext;
}

export function createDefinitionWriter({ operations, context }: WriterOptions): DefinitionWriter {
  return {
    async update(name, change) {
      const life = context();
      const now = life.now();
      try {
        const written = await operations.update(
          DEFINITIONS,
          '',
          name,
          'status',
          (object) => {
            // Only the status changes: the schemas, which may be large, are neither copied nor compared.
            const live = { ...object, metadata: { ...object.metadata }, status: deepCopy(statusOf(object)) };
            const definition = object as unknown as CustomResourceDefinition;
            if (!change(definition, (condition) => setCondition(definition, condition, now))) return object;
            noteWrite(object, live, now);
            return object;
          },
          life,
        );
        return written as unknown as CustomResourceDefinition;
      } catch (error) {
        if (error instanceof StatusError && error.code === 404) return undefined;
        throw error;
      }
    },
  };
}

const statusOf = (object: KubeObject): unknown => (object as { readonly status?: unknown }).status;

function noteWrite(newObject: KubeObject, live: KubeObject, time: Date): void {
  updateManagedFields({
    type: definitionType(),
    apiVersion: `${GROUP}/v1`,
    manager: SERVER_MANAGER,
    subresource: 'status',
    time,
    resetFields: [['metadata'], ['spec']],
    live,
    newObject,
  });
}

// The server's own writes to CRDs: always to their status, and recorded under its manager's name.
import { setCondition } from '../apis/apiextensions/definition.js';
import type { KubeObject } from '../machinery/object.js';
import { StatusError } from '../machinery/status.js';
import type { LifeContext, ObjectOperations } from '../registry/kind.js';
import { SERVER_MANAGER } from '../registry/server-client.js';
import { updateManagedFields } from '../schema/apply/field-manager.js';
import { deepCopy } from '../schema/deep-copy.js';
import type { CustomResourceDefinition } from '../schema/generated/apiextensions.v1.js';
import type { Condition } from './accept-names.js';
import { crdType } from './crd-json.js';

const GROUP = 'apiextensions.k8s.io';
export const DEFINITIONS = { group: GROUP, resource: 'customresourcedefinitions' };

export interface DefinitionWriter {
  /**
   * Changes the status of the newest version of a CRD. `change` returns false to leave the CRD as it is.
   * Returns the CRD after the write; undefined when it is gone.
   */
  update(
    name: string,
    change: (crd: CustomResourceDefinition, set: (condition: Condition) => void) => boolean,
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
        const written = await operations.update({
          resource: DEFINITIONS,
          namespace: '',
          name,
          subresource: 'status',
          change: (object) => {
            // Only the status changes: the schemas, which may be large, are neither copied nor compared.
            const live = { ...object, metadata: { ...object.metadata }, status: deepCopy(statusOf(object)) };
            const crd = object as unknown as CustomResourceDefinition;
            if (!change(crd, (condition) => setCondition(crd, condition, now))) return object;
            noteWrite(object, live, now);
            return object;
          },
          context: life,
        });
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
    type: crdType(),
    apiVersion: `${GROUP}/v1`,
    manager: SERVER_MANAGER,
    subresource: 'status',
    time,
    resetFields: [['metadata'], ['spec']],
    live,
    newObject,
  });
}

// Webhooks and policies have a say about the server's own writes, too, as they have where these go through the API.
import type { AdmissionAttributes, AdmissionChain } from '../../admission/plugin.js';
import type { UserInfo } from '../../machinery/user.js';
import type { InternalWriteAdmission, InternalWrite } from '../../registry/operations.js';
import { storageVersionOf } from '../../rest/contract/endpoint.js';
import type { Resources } from '../kinds/resources.js';

/**
 * The plugins that consult others. All other plugins judge what clients may do, by what a new cluster does not have
 * yet; what the server writes is right by itself.
 */
export const REVIEWING_PLUGINS: ReadonlySet<string> = new Set([
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
]);

const PLAIN_OPTIONS = { dryRun: false, fieldManager: '', sentFieldValidation: '' };

/** `user`: who the reviews name as the author of the writes. */
export function internalWriteAdmission(
  resources: Resources,
  reviewing: AdmissionChain,
  user: UserInfo,
): InternalWriteAdmission {
  const attributesOf = (write: InternalWrite): AdmissionAttributes | undefined => {
    const { registry, namespace, name, context } = write;
    const { group, resource } = registry.resource;
    const endpoint = resources.find(group, storageVersionOf(registry.kind).version, resource);
    // A version that is not served is not shown to anybody.
    if (endpoint === undefined) return undefined;
    const isNamespace = group === '' && resource === 'namespaces';
    return {
      operation: write.operation,
      kind: endpoint.kind,
      resource: endpoint.resource,
      subresource: write.subresource,
      namespace: isNamespace ? name : namespace,
      name,
      object: write.object,
      old: write.old,
      options: write.operation === 'DELETE' ? (write.options ?? {}) : PLAIN_OPTIONS,
      context: { ...context, user },
      operations: resources.operations,
      annotate: () => undefined,
    };
  };
  return {
    admit(write) {
      const attributes = attributesOf(write);
      return attributes && reviewing.admit(attributes);
    },
    validate(write) {
      const attributes = attributesOf(write);
      return attributes && reviewing.validate(attributes);
    },
  };
}

import type { KindDefinition, Subresource } from '../../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { ServiceAccount } from '../../../schema/generated/core.v1.js';
import { defaultTokenRequest } from '../../authentication/token-request.js';

const ENFORCE_MOUNTABLE_SECRETS = 'kubernetes.io/enforce-mountable-secrets';

export interface ServiceAccountParts {
  /** Issues a token for the account; absent when the server signs none. */
  readonly createToken?: Subresource<ServiceAccount>['create'];
}

export const serviceAccountKind = ({ createToken }: ServiceAccountParts): KindDefinition<ServiceAccount> => ({
  group: '',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  versions: [{ version: 'v1' }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    prepareForCreate: cleanSecretReferences,
    prepareForUpdate: cleanSecretReferences,
    // Nothing but metadata is checked: secrets may be named before they exist.
    validate: () => [],
    validateUpdate: (_object, _old, _context, { whole, change }) => [...change, ...whole],
    warningsOnCreate: (object) => warnings(object),
    warningsOnUpdate: (object, old) => warnings(object, old),
    delete: { returnsObject: true },
  },
  table: {
    columns: [NAME_COLUMN, column('Secrets', 'How many secrets the account lists.'), AGE_COLUMN],
    row: (object, now) => [object.metadata.name ?? '', (object.secrets ?? []).length, ageCell(object, now)],
  },
  ...(createToken === undefined
    ? {}
    : {
        subresources: {
          token: {
            group: 'authentication.k8s.io',
            version: 'v1',
            kind: 'TokenRequest',
            verbs: ['create'] as const,
            defaults: defaultTokenRequest,
            create: createToken,
            reviewsComplete: true,
          },
        },
      }),
});

/** Of a reference to a secret only the name counts. */
function cleanSecretReferences(object: ServiceAccount): void {
  if (object.secrets !== undefined) object.secrets = object.secrets.map(({ name }) => (name ? { name } : {}));
}

function warnings(object: Readonly<ServiceAccount>, old?: Readonly<ServiceAccount>): string[] {
  const set = (account: Readonly<ServiceAccount> | undefined): boolean =>
    account?.metadata.annotations?.[ENFORCE_MOUNTABLE_SECRETS] !== undefined;
  if (set(old) || !set(object)) return [];
  return [
    `metadata.annotations[${ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ];
}

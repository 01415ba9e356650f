import { AuthenticationError, type Authenticated } from '../../authn/authenticator.js';
import type { Authentication } from '../../authn/create-authenticator.js';
import { intersect } from '../../authn/audience.js';
import type { KubeObject } from '../../machinery/object.js';
import { badRequest, internalError } from '../../machinery/status.js';
import { sortedExtra, type UserInfo } from '../../machinery/user.js';
import { NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition, LifeContext } from '../../registry/kind.js';
import { timestamp } from '../../registry/registry.js';
import type {
  SelfSubjectReview,
  TokenReview,
  UserInfo as ApiUserInfo,
} from '../../schema/generated/authentication.v1.js';

const GROUP = 'authentication.k8s.io';

export interface AuthenticationServices {
  readonly authentication: Pick<Authentication, 'reviewToken'>;
  readonly apiAudiences: readonly string[];
}

/** Who is this token, and who am I: answered and not kept. */
export function authenticationKinds(services: AuthenticationServices): readonly KindDefinition[] {
  return [
    review<TokenReview>('TokenReview', ['v1'], (object, context) => reviewToken(services, object, context)),
    review<SelfSubjectReview>('SelfSubjectReview', ['v1', 'v1beta1'], async (object, context) => ({
      kind: 'SelfSubjectReview',
      apiVersion: object.apiVersion ?? `${GROUP}/v1`,
      metadata: { creationTimestamp: timestamp(context.now()) },
      status: { userInfo: userInfoOf(context.user) },
    })),
  ];
}

async function reviewToken(
  { authentication, apiAudiences }: AuthenticationServices,
  object: TokenReview,
  context: LifeContext,
): Promise<object> {
  if (context.namespace !== '') throw badRequest(`namespace is not allowed on this type: ${context.namespace}`);
  const { token = '', audiences = [] } = object.spec;
  if (token === '') throw badRequest('token is required for TokenReview in authentication');
  const wanted = audiences.length === 0 ? apiAudiences : audiences;
  let known: Authenticated;
  try {
    known = await authentication.reviewToken(bearerPart(token), wanted);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
    // Who the client said it was stays as it was sent.
    const { user = {} } = (object as { status?: { user?: object } }).status ?? {};
    return { ...object, status: { user, error: error.message } };
  }
  if (wanted.length > 0 && intersect(wanted, known.audiences ?? []).length === 0) {
    throw internalError('error validating audiences');
  }
  const shared = known.audiences ?? [];
  return {
    ...object,
    status: {
      authenticated: true,
      user: userInfoOf(known.user),
      ...(shared.length === 0 ? {} : { audiences: shared }),
    },
  };
}

/** A token is looked at as if it came in a header, where it ends at the first space. */
const bearerPart = (token: string): string => token.trim().split(' ')[0] ?? '';

function userInfoOf({ name, uid = '', groups, extra = {} }: UserInfo): ApiUserInfo {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid === '' ? {} : { uid }),
    ...(groups.length === 0 ? {} : { groups: [...groups] }),
    // A null list is encoded as null, like any other member of the type.
    ...(Object.keys(extra).length === 0 ? {} : { extra: sortedExtra(extra) as Record<string, string[]> }),
  };
}

function review<T extends KubeObject>(
  kind: string,
  versions: readonly string[],
  create: (object: T, context: LifeContext) => Promise<object>,
): KindDefinition<T> {
  return {
    group: GROUP,
    kind,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    namespaced: false,
    versions: versions.map((version) => ({ version, enabledByDefault: version === 'v1' })),
    storageVersion: 'v1',
    verbs: ['create'],
    strategy: { validate: () => [], validateUpdate: () => [] },
    table: { columns: [NAME_COLUMN], row: (object) => [object.metadata.name ?? ''] },
    virtual: { create },
  };
}

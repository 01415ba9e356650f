// serviceaccounts/token: a token for the account, bound to a pod, secret or node if requested.
import type { IssuedToken, TokenIssuer, TokenToIssue } from '../../authn/service-account/issuer.js';
import { errorText } from '../../lib/text/error-text.js';
import { goQuote } from '../../lib/go/quote.js';
import { type FieldErrors, FieldPath, invalid as invalidField } from '../../machinery/field-error.js';
import { apiVersionFault, type KubeObject, parseApiVersion } from '../../machinery/object.js';
import { StatusError, badRequest, conflict, internalError, invalid } from '../../machinery/status.js';
import type { SubresourceAction } from '../../registry/kind.js';
import { timestamp } from '../../registry/registry.js';
import type { BoundObjectReference, TokenRequest, TokenRequestSpec } from '../../schema/generated/authentication.v1.js';
import type { Pod } from '../../schema/generated/core.v1.js';

export interface TokenRequestServices {
  readonly issuer: TokenIssuer;
  readonly apiAudiences: readonly string[];
  /** --service-account-max-token-expiration; 0 for no limit. */
  readonly maxExpirationSeconds: number;
  /** --service-account-extend-token-expiration. */
  readonly extendExpiration: boolean;
  /** What the signer gives at most, also to those that are extended; none without it. */
  readonly maxExtendedExpirationSeconds?: number;
}

const GROUP_KIND = { group: 'authentication.k8s.io', kind: 'TokenRequest' };
const DEFAULT_EXPIRATION_SECONDS = 3600;
const MIN_EXPIRATION_SECONDS = 600;
const MAX_EXPIRATION_SECONDS = 2 ** 32;
/** What kubelets request for pods whose software may not yet read its token anew; such tokens live longer than requested. */
const WARN_ONLY_EXPIRATION_SECONDS = 3607;
const EXTENDED_EXPIRATION_SECONDS = 365 * 24 * 3600;

export function defaultTokenRequest(body: KubeObject): void {
  (body as TokenRequest).spec.expirationSeconds ??= DEFAULT_EXPIRATION_SECONDS;
}

/** The `create` of the token subresource of service accounts. */
export function createTokenAction(services: TokenRequestServices) {
  return async (action: SubresourceAction): Promise<{ code: number; object: object }> => {
    const { name, context } = action;
    const now = context.now();
    const request = await completeRequest(action, services.apiAudiences, now);
    const errors = validateExpiration(request.spec.expirationSeconds ?? 0);
    if (errors.length > 0) throw invalid(GROUP_KIND, '', errors);
    await action.review(request);
    const { pod, node, secret } = await boundObjects(action, request.spec.boundObjectRef);
    const spec = { ...request.spec, expirationSeconds: limitExpiration(request.spec, services, action) };
    const extended =
      services.extendExpiration &&
      pod !== undefined &&
      spec.expirationSeconds === WARN_ONLY_EXPIRATION_SECONDS &&
      (spec.audiences ?? []).every((audience) => services.apiAudiences.includes(audience));
    const { token, id } = await issue(services, {
      bound: {
        namespace: request.metadata.namespace ?? '',
        serviceaccount: { name, uid: request.metadata.uid ?? '' },
        ...refOf('pod', pod),
        ...refOf('secret', secret),
        ...refOf('node', node),
        ...(extended ? { warnafter: Math.floor(now.getTime() / 1000) + spec.expirationSeconds } : {}),
      },
      audiences: spec.audiences ?? [],
      expirationSeconds: extended
        ? Math.min(EXTENDED_EXPIRATION_SECONDS, services.maxExtendedExpirationSeconds ?? EXTENDED_EXPIRATION_SECONDS)
        : spec.expirationSeconds,
      now,
    });
    if (id !== '') action.annotate('authentication.kubernetes.io/issued-credential-id', `JTI=${id}`);
    const expires = new Date(now.getTime() + spec.expirationSeconds * 1000);
    return { code: 201, object: { ...request, spec, status: { token, expirationTimestamp: timestamp(expires) } } };
  };
}

/** A signer may be another program, and have troubles of its own. */
async function issue({ issuer }: TokenRequestServices, token: TokenToIssue): Promise<IssuedToken> {
  try {
    return await issuer.issue(token);
  } catch (error) {
    throw internalError(`failed to generate token: ${errorText(error)}`);
  }
}

/** Fills in what the request leaves to the account, and refuses what contradicts it. */
async function completeRequest(
  { name, namespace, body, context, operations, ...action }: SubresourceAction,
  apiAudiences: readonly string[],
  now: Date,
): Promise<TokenRequest> {
  const { metadata, spec } = body as TokenRequest;
  for (const [field, own, inPath] of [
    ['name', metadata.name ?? '', name],
    ['namespace', metadata.namespace ?? '', namespace],
  ] as const) {
    if (own === '' || own === inPath) continue;
    const text = `must match the service account ${field} if specified`;
    throw invalid(GROUP_KIND, name, [invalidField(FieldPath.of('metadata', field), own, text)]);
  }
  const account = await operations.get({ group: '', resource: 'serviceaccounts' }, namespace, name, context.trace);
  const uid = account.metadata.uid ?? '';
  if (metadata.uid && metadata.uid !== uid) {
    const differs = `the UID in the token request (${metadata.uid}) does not match the UID of the service account (${uid})`;
    if (context.features.enabled('TokenRequestServiceAccountUIDValidation')) {
      throw conflict({ group: GROUP_KIND.group, resource: GROUP_KIND.kind }, name, differs);
    }
    action.annotate('authentication.k8s.io/token-request-uid-mismatch', differs);
    context.warn(
      `${differs} but TokenRequestServiceAccountUIDValidation is not enabled. In the future, this will return a conflict error`,
    );
  }
  const audiences = (spec.audiences ?? []).length === 0 ? [...apiAudiences] : spec.audiences;
  return {
    kind: GROUP_KIND.kind,
    apiVersion: `${GROUP_KIND.group}/v1`,
    metadata: { ...metadata, name, namespace, uid: metadata.uid || uid, creationTimestamp: timestamp(now) },
    spec: { ...spec, audiences, expirationSeconds: spec.expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS },
    status: { token: '', expirationTimestamp: null },
  };
}

function validateExpiration(seconds: number): FieldErrors {
  const path = FieldPath.of('spec', 'expirationSeconds');
  if (seconds < MIN_EXPIRATION_SECONDS) {
    return [invalidField(path, seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds > MAX_EXPIRATION_SECONDS) {
    return [invalidField(path, seconds, 'may not specify a duration larger than 2^32 seconds')];
  }
  return [];
}

function limitExpiration(
  { expirationSeconds }: TokenRequestSpec,
  { maxExpirationSeconds }: TokenRequestServices,
  { context }: SubresourceAction,
): number {
  const wanted = expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS;
  if (maxExpirationSeconds <= 0 || wanted <= maxExpirationSeconds) return wanted;
  context.warn(`requested expiration of ${wanted} seconds shortened to ${maxExpirationSeconds} seconds`);
  return maxExpirationSeconds;
}

interface BoundObjects {
  readonly pod?: KubeObject;
  readonly node?: KubeObject;
  readonly secret?: KubeObject;
}

async function boundObjects(action: SubresourceAction, ref: BoundObjectReference | null): Promise<BoundObjects> {
  if (!ref) return {};
  const { namespace, operations } = action;
  const { apiVersion = '' } = ref;
  // What cannot be read as a version is of the core group.
  const { group, version } = parseApiVersion(apiVersionFault(apiVersion) === undefined ? apiVersion : '');
  const name = ref.name ?? '';
  switch (group === '' ? (ref.kind ?? '') : '') {
    case 'Pod': {
      const pod = await operations.get({ group: '', resource: 'pods' }, namespace, name);
      const { serviceAccountName, nodeName } = (pod as Pod).spec;
      if ((serviceAccountName ?? '') !== action.name) {
        throw badRequest(
          `cannot bind token for serviceaccount ${goQuote(action.name)} to pod running with different serviceaccount name.`,
        );
      }
      checkUid(ref, pod);
      const includesNode = nodeName && action.context.features.enabled('ServiceAccountTokenPodNodeInfo');
      return includesNode ? { pod, node: await nodeOrName(action, nodeName) } : { pod };
    }
    case 'Node': {
      if (!action.context.features.enabled('ServiceAccountTokenNodeBinding')) {
        throw badRequest(
          'cannot bind token to a Node object as the "ServiceAccountTokenNodeBinding" feature-gate is disabled',
        );
      }
      const node = await operations.get({ group: '', resource: 'nodes' }, '', name);
      checkUid(ref, node);
      return { node };
    }
    case 'Secret': {
      const secret = await operations.get({ group: '', resource: 'secrets' }, namespace, name);
      checkUid(ref, secret);
      return { secret };
    }
    default:
      throw badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${ref.kind ?? ''}`);
  }
}

/** A pod may name a node that does not exist (any more): the token carries its name all the same. */
async function nodeOrName({ operations }: SubresourceAction, name: string): Promise<KubeObject> {
  try {
    return await operations.get({ group: '', resource: 'nodes' }, '', name);
  } catch (error) {
    if (error instanceof StatusError && error.code === 404) return { metadata: { name } };
    throw error;
  }
}

function checkUid(ref: BoundObjectReference, object: KubeObject): void {
  if (!ref.uid || ref.uid === object.metadata.uid) return;
  throw conflict(
    { group: '', resource: ref.kind ?? '' },
    ref.name ?? '',
    `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
  );
}

function refOf(member: string, object: KubeObject | undefined): object {
  if (object === undefined) return {};
  const { name, uid } = object.metadata;
  return { [member]: { name, ...(uid ? { uid } : {}) } };
}

// `Impersonate-*` headers: acting as someone else, each part of which the sender must be allowed to impersonate.
import { splitServiceAccountUserName } from '../authn/service-account/identity.js';
import type { AuthorizationAttributes, Authorizer } from '../authz/authorizer.js';
import { headerText } from '../lib/http/header-text.js';
import { firstHeader, headerValues, type HttpRequest, type HttpResponse } from '../lib/http/http.js';
import { percentDecode } from '../lib/http/percent-decode.js';
import { Yielder } from '../lib/scheduling/yield.js';
import type { Logger } from '../lib/telemetry/log.js';
import type { StatusError } from '../machinery/status.js';
import { ANONYMOUS_USER, AUTHENTICATED_GROUP, UNAUTHENTICATED_GROUP, type UserInfo } from '../machinery/user.js';
import { forbiddenError, noSniff, unlessEnded } from './authorization.js';
import type { Exchange, Filter, Handler } from './exchange.js';
import { internalServerError } from './plain-response.js';
import { uriOf } from './request-info.js';

export interface ImpersonationOptions {
  readonly authorizer: Authorizer;
  readonly renderStatus: (error: StatusError, exchange: Exchange) => HttpResponse;
  readonly log: Logger;
}

export function impersonation(options: ImpersonationOptions): Filter {
  return (exchange, next) =>
    asksToImpersonate(exchange.request) ? impersonate(options, exchange, next) : next(exchange);
}

/** One thing the sender wants to be: a name of a kind. */
interface Part {
  readonly kind: 'ServiceAccount' | 'User' | 'Group' | 'UserExtra' | 'UID';
  readonly name: string;
  readonly namespace: string;
  readonly extraKey: string;
}

const PREFIX = 'impersonate-';
const LETTER_M = 0x6d;
const USER = 'impersonate-user';
const GROUP = 'impersonate-group';
const UID = 'impersonate-uid';
const EXTRA_PREFIX = 'impersonate-extra-';

// hot: on every request; few impersonate.
function asksToImpersonate({ headers, rawHeaders }: HttpRequest): boolean {
  if (rawHeaders === undefined) return Object.keys(headers).some((name) => name.startsWith(PREFIX));
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (
      name.length > PREFIX.length &&
      (name.charCodeAt(1) | 0x20) === LETTER_M &&
      name.toLowerCase().startsWith(PREFIX)
    ) {
      return true;
    }
  }
  return false;
}

async function impersonate(options: ImpersonationOptions, exchange: Exchange, next: Handler): Promise<HttpResponse> {
  const { authorizer, renderStatus, log } = options;
  const { request, user: requestor } = exchange;
  const parts = partsOf(request);
  if (parts.length === 0) return await next(exchange);
  const first = parts[0]?.kind;
  if (first !== 'User' && first !== 'ServiceAccount') {
    const requested = parts.map(encodePart).join(' ');
    return internalServerError(uriOf(request), `requested [${requested}] without impersonating a user`);
  }
  if (requestor === undefined) return internalServerError(uriOf(request), 'no user found for request');
  const yielder = new Yielder();
  for (const part of parts) {
    await yielder.yieldIfDue();
    const attributes = attributesOf(part, requestor);
    const deciding = authorizer.authorize(attributes, request);
    const { decision, reason, evaluationError } =
      deciding instanceof Promise ? await unlessEnded(deciding, request.signal) : deciding;
    if (decision !== 'allow' || evaluationError !== undefined) {
      log.v(4)?.info('Forbidden', { URI: uriOf(request), reason, err: evaluationError });
      return noSniff(renderStatus(forbiddenError(attributes, reason), exchange));
    }
  }
  exchange.impersonator = requestor;
  exchange.user = userOf(parts);
  return await next(exchange);
}

function partsOf(request: HttpRequest): Part[] {
  const parts: Part[] = [];
  const add = (kind: Part['kind'], name: string, namespace = '', extraKey = ''): void => {
    parts.push({ kind, name: headerText(name), namespace: headerText(namespace), extraKey });
  };
  const user = firstHeader(request, USER) ?? '';
  const account = splitServiceAccountUserName(user);
  if (account !== undefined) add('ServiceAccount', account.name, account.namespace);
  else if (user !== '') add('User', user);
  for (const group of headerValues(request, GROUP)) add('Group', group);
  for (const [name, values] of extraHeaders(request)) {
    const key = percentDecode(name.slice(EXTRA_PREFIX.length));
    for (const value of values) add('UserExtra', value, '', key);
  }
  const uid = firstHeader(request, UID) ?? '';
  if (uid !== '') add('UID', uid);
  return parts;
}

/** All of them in one walk: a head may have thousands. */
function extraHeaders({ headers, rawHeaders: raw }: HttpRequest): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const name in headers) {
    if (name.startsWith(EXTRA_PREFIX)) found.set(name, raw === undefined ? [headers[name] ?? ''] : []);
  }
  if (found.size === 0 || raw === undefined) return found;
  for (let i = 0; i + 1 < raw.length; i += 2) found.get((raw[i] ?? '').toLowerCase())?.push(raw[i + 1] ?? '');
  return found;
}

/** kube-apiserver shows the part as an object reference without its member names. */
const encodePart = ({ kind, name, extraKey }: Part): string => {
  const version = kind === 'UserExtra' || kind === 'UID' ? 'authentication.k8s.io/v1' : '';
  return `{${[kind, '', name, '', version, '', extraKey].join(' ')}}`;
};

const RESOURCES = {
  ServiceAccount: ['', 'serviceaccounts'],
  User: ['', 'users'],
  Group: ['', 'groups'],
  UserExtra: ['authentication.k8s.io', 'userextras'],
  UID: ['authentication.k8s.io', 'uids'],
} as const;

function attributesOf(part: Part, user: UserInfo): AuthorizationAttributes {
  const [apiGroup, resource] = RESOURCES[part.kind];
  return {
    user,
    verb: 'impersonate',
    resourceRequest: true,
    apiGroup,
    apiVersion: apiGroup === '' ? '' : 'v1',
    resource,
    subresource: part.extraKey,
    namespace: part.namespace,
    name: part.name,
    path: '',
  };
}

function userOf(parts: readonly Part[]): UserInfo {
  let name = '';
  let uid = '';
  let groups: string[] = [];
  const extra = new Map<string, string[]>();
  const groupsGiven = parts.some((part) => part.kind === 'Group');
  for (const part of parts) {
    switch (part.kind) {
      case 'ServiceAccount':
        name = `system:serviceaccount:${part.namespace}:${part.name}`;
        if (!groupsGiven) groups = ['system:serviceaccounts', `system:serviceaccounts:${part.namespace}`];
        break;
      case 'User':
        name = part.name;
        break;
      case 'Group':
        groups.push(part.name);
        break;
      case 'UserExtra': {
        const values = extra.get(part.extraKey);
        if (values === undefined) extra.set(part.extraKey, [part.name]);
        else values.push(part.name);
        break;
      }
      case 'UID':
        uid = part.name;
        break;
    }
  }
  if (name === ANONYMOUS_USER) {
    if (!groups.includes(UNAUTHENTICATED_GROUP)) groups.push(UNAUTHENTICATED_GROUP);
  } else if (!groups.includes(AUTHENTICATED_GROUP) && !groups.includes(UNAUTHENTICATED_GROUP)) {
    groups.push(AUTHENTICATED_GROUP);
  }
  return {
    name,
    groups,
    ...(uid === '' ? {} : { uid }),
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

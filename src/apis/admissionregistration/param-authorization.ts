// A policy reads its parameters with the server's rights: whoever writes one must be able to read them too.
import type { Authorizer } from '../../authz/authorizer.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { type GroupVersionKind, type KubeObject, parseApiVersion } from '../../machinery/object.js';
import { MASTERS_GROUP, type UserInfo } from '../../machinery/user.js';
import type { LifeContext } from '../../registry/kind.js';
import type { ParamKind, ParamRef } from '../../schema/generated/admissionregistration.v1.js';
import { GROUP } from './policies.js';

export interface ParamServices {
  readonly authorizer: Authorizer;
  /** The resource that serves a kind, when this server has it. */
  resourceOf(kind: GroupVersionKind): string | undefined;
}

interface BindingSpec {
  readonly policyName?: string;
  readonly paramRef?: ParamRef;
}

/** Why the user may not name this kind of parameter, or undefined. */
export async function refuseParamKind(
  services: ParamServices,
  kind: ParamKind | undefined,
  old: ParamKind | undefined,
  { user }: LifeContext,
): Promise<string | undefined> {
  if (kind === undefined || deepEqual(kind, old) || isSuperuser(user)) return undefined;
  const target = targetOf(services, kind);
  const allowed = await mayRead(services, user, { ...target, verb: 'get', namespace: '*', name: '*' });
  if (allowed) return undefined;
  const shown = `(kind=${kind.kind ?? ''}, apiVersion=${kind.apiVersion ?? ''})`;
  return `user ${userText(user)} must have "get" permission on all objects of the referenced paramKind ${shown}`;
}

export interface ParamRefCheck {
  readonly policies: 'validatingadmissionpolicies' | 'mutatingadmissionpolicies';
  readonly spec: BindingSpec;
  readonly old: BindingSpec | undefined;
  readonly context: LifeContext;
}

/** Why the user may not bind to these parameters, or undefined. */
export async function refuseParamRef(
  services: ParamServices,
  { policies, spec, old, context: { user, lookup } }: ParamRefCheck,
): Promise<string | undefined> {
  const { paramRef, policyName = '' } = spec;
  const unchanged = old?.policyName === policyName && deepEqual(paramRef, old?.paramRef);
  if (paramRef === undefined || unchanged || isSuperuser(user)) return undefined;
  const policy = await lookup.get({ group: GROUP, resource: policies }, '', policyName);
  const kind = (policy as (KubeObject & { spec: { paramKind?: ParamKind } }) | undefined)?.spec.paramKind;
  const target = kind === undefined ? ANYTHING : targetOf(services, kind);
  const { name = '', namespace = '' } = paramRef;
  const verb = name === '' ? 'list' : 'get';
  if (await mayRead(services, user, { ...target, verb, namespace, name })) return undefined;
  const needsAll = `to determine minimum required permissions and user ${userText(user)} does not have "${verb}" permission for all groups, versions and resources`;
  if (policy === undefined) return `unable to get policy ${policyName} ${needsAll}`;
  if (kind !== undefined && target.resource === '*') {
    return `unable to resolve paramKind &{${kind.apiVersion ?? ''} ${kind.kind ?? ''}} ${needsAll}`;
  }
  return `user ${userText(user)} does not have "${verb}" permission on the object referenced by paramRef`;
}

interface Target {
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
}

const ANYTHING: Target = { apiGroup: '*', apiVersion: '*', resource: '*' };

function targetOf(services: ParamServices, { apiVersion = '', kind = '' }: ParamKind): Target {
  const { group, version } = parseApiVersion(apiVersion);
  return { apiGroup: group, apiVersion: version, resource: services.resourceOf({ group, version, kind }) ?? '*' };
}

async function mayRead(
  { authorizer }: ParamServices,
  user: UserInfo,
  read: Target & { readonly verb: string; readonly namespace: string; readonly name: string },
): Promise<boolean> {
  const { decision } = await authorizer.authorize({ user, resourceRequest: true, subresource: '', path: '', ...read });
  return decision === 'allow';
}

const isSuperuser = (user: UserInfo): boolean => user.groups.includes(MASTERS_GROUP);

function userText({ name, uid = '', groups, extra = {} }: UserInfo): string {
  const entries = Object.keys(extra).sort();
  const shown = entries.map((key) => `${key}:[${(extra[key] ?? []).join(' ')}]`).join(' ');
  return `&{${name} ${uid} [${groups.join(' ')}] map[${shown}]}`;
}

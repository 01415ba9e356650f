// Questions to the server's authorizer: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
import type { AuthorizationAttributes } from '../../machinery/access.js';
import { readFieldSelector, readLabelSelector } from '../../machinery/read-selector.js';
import { nameIsDnsLabel, nameIsDnsSubdomain } from '../../machinery/validation/names.js';
import type { UserInfo } from '../../machinery/user.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, type CelType, STRING, objectType } from '../type.js';
import { CelError, OpaqueValue, type Value, noSuchOverload } from '../value.js';

export const AUTHORIZER = objectType('kubernetes.authorization.Authorizer');
const PATH_CHECK = objectType('kubernetes.authorization.PathCheck');
const GROUP_CHECK = objectType('kubernetes.authorization.GroupCheck');
export const RESOURCE_CHECK = objectType('kubernetes.authorization.ResourceCheck');
const DECISION = objectType('kubernetes.authorization.Decision');

export interface AccessAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  readonly error?: string;
}

/** Answers at once: an expression does not wait. */
export type Authorize = (question: AuthorizationAttributes) => AccessAnswer;

/** Values that only have functions; two of them are never compared. */
abstract class Receiver extends OpaqueValue {
  equal(_other: Value): Value {
    return noSuchOverload();
  }
  override readAgain(): Value {
    return noSuchOverload();
  }
}

export class AuthorizerValue extends Receiver {
  readonly type = AUTHORIZER;
  constructor(
    readonly user: UserInfo,
    readonly ask: Authorize,
  ) {
    super();
  }
}

class PathCheck extends Receiver {
  readonly type = PATH_CHECK;
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super();
  }
}

class GroupCheck extends Receiver {
  readonly type = GROUP_CHECK;
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

interface CheckedResource extends Pick<
  AuthorizationAttributes,
  'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name'
> {
  readonly fieldSelector?: string;
  readonly labelSelector?: string;
}

class ResourceCheck extends Receiver {
  readonly type = RESOURCE_CHECK;
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly checked: CheckedResource,
  ) {
    super();
  }
  with(more: Partial<CheckedResource>): ResourceCheck {
    return new ResourceCheck(this.authorizer, { ...this.checked, ...more });
  }
}

class DecisionValue extends Receiver {
  readonly type = DECISION;
  constructor(readonly answer: AccessAnswer) {
    super();
  }
}

/** The check that `authorizer.requestResource` stands for: the resource the request is about. */
export const requestResourceCheck = (
  authorizer: AuthorizerValue,
  checked: Pick<CheckedResource, 'apiGroup' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): OpaqueValue => new ResourceCheck(authorizer, checked);

export const authorizerLibrary: Library = {
  name: 'kubernetes.authz',
  functions: [
    member({
      name: 'path',
      id: 'authorizer_path',
      parameters: [AUTHORIZER, STRING],
      result: PATH_CHECK,
      call: (authorizer: AuthorizerValue, path: string) =>
        path.trim() === '' ? new CelError('path must not be empty') : new PathCheck(authorizer, path),
    }),
    member({
      name: 'group',
      id: 'authorizer_group',
      parameters: [AUTHORIZER, STRING],
      result: GROUP_CHECK,
      call: (authorizer: AuthorizerValue, group: string) => new GroupCheck(authorizer, group),
    }),
    member({
      name: 'serviceAccount',
      id: 'authorizer_serviceaccount',
      parameters: [AUTHORIZER, STRING, STRING],
      result: AUTHORIZER,
      call: serviceAccount,
    }),
    member({
      name: 'resource',
      id: 'groupcheck_resource',
      parameters: [GROUP_CHECK, STRING],
      result: RESOURCE_CHECK,
      call: resourceOfGroup,
    }),
    narrowing('subresource', 'resourcecheck_subresource'),
    narrowing('namespace', 'resourcecheck_namespace'),
    narrowing('name', 'resourcecheck_name'),
    {
      name: 'check',
      overloads: [
        { id: 'pathcheck_check', member: true, parameters: [PATH_CHECK, STRING], result: DECISION, call: checkPath },
        {
          id: 'resourcecheck_check',
          member: true,
          parameters: [RESOURCE_CHECK, STRING],
          result: DECISION,
          call: checkResource,
        },
      ],
    },
    decisionMember('errored', BOOL, ({ error }) => error !== undefined),
    decisionMember('error', STRING, ({ error }) => error ?? ''),
    decisionMember('allowed', BOOL, ({ allowed }) => allowed),
    decisionMember('reason', STRING, ({ reason }) => reason),
  ],
};

/** Checks of lists that are narrowed by selectors. */
export const authorizerSelectorsLibrary: Library = {
  name: 'kubernetes.authzSelectors',
  functions: [
    narrowing('fieldSelector', 'authorizer_fieldselector'),
    narrowing('labelSelector', 'authorizer_labelselector'),
  ],
};

interface MemberFunction {
  readonly name: string;
  readonly id: string;
  readonly parameters: readonly CelType[];
  readonly result: CelType;
  readonly call: (...values: never[]) => Value;
}

function member({ name, id, parameters, result, call }: MemberFunction): FunctionDeclaration {
  return { name, overloads: [{ id, member: true, parameters, result, call }] };
}

function narrowing(
  name: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector',
  id: string,
): FunctionDeclaration {
  const call = (check: ResourceCheck, value: string): Value => check.with({ [name]: value });
  return member({ name, id, parameters: [RESOURCE_CHECK, STRING], result: RESOURCE_CHECK, call });
}

function decisionMember(name: string, result: CelType, read: (answer: AccessAnswer) => Value): FunctionDeclaration {
  return member({
    name,
    id: `decision_${name}`,
    parameters: [DECISION],
    result,
    call: ({ answer }: DecisionValue) => read(answer),
  });
}

function serviceAccount({ ask }: AuthorizerValue, namespace: string, name: string): Value {
  if (nameIsDnsSubdomain(name, false).length > 0) return new CelError('Invalid service account name');
  if (nameIsDnsLabel(namespace, false).length > 0) return new CelError('Invalid service account namespace');
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return new AuthorizerValue({ name: `system:serviceaccount:${namespace}:${name}`, groups }, ask);
}

function resourceOfGroup({ authorizer, group }: GroupCheck, resource: string): Value {
  if (resource.trim() === '') return new CelError('resource must not be empty');
  return new ResourceCheck(authorizer, { apiGroup: group, resource, subresource: '', namespace: '', name: '' });
}

function checkPath({ authorizer, path }: PathCheck, verb: string): Value {
  const nothing = { apiGroup: '', apiVersion: '', resource: '', subresource: '', namespace: '', name: '' };
  return new DecisionValue(authorizer.ask({ ...nothing, user: authorizer.user, verb, resourceRequest: false, path }));
}

function checkResource({ authorizer, checked }: ResourceCheck, verb: string): Value {
  const { fieldSelector, labelSelector, ...resource } = checked;
  return new DecisionValue(
    authorizer.ask({
      ...resource,
      ...(fieldSelector && { fieldSelector: readFieldSelector(fieldSelector) }),
      ...(labelSelector && { labelSelector: readLabelSelector(labelSelector) }),
      user: authorizer.user,
      verb,
      resourceRequest: true,
      apiVersion: '*',
      path: '',
    }),
  );
}

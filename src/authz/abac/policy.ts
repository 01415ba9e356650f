// A line of a policy file of mode ABAC, in both forms.
//
//   {"apiVersion":"abac.authorization.kubernetes.io/v1beta1","kind":"Policy","spec":{"user":"alice","namespace":"*",…}}
//   {"user":"alice","namespace":"default"}
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { goQuote } from '../../lib/go/quote.js';
import { errorText } from '../../lib/text/error-text.js';
import { AUTHENTICATED_GROUP } from '../../machinery/user.js';

export interface AbacPolicy {
  readonly user: string;
  readonly group: string;
  readonly readonly: boolean;
  readonly apiGroup: string;
  readonly resource: string;
  readonly namespace: string;
  readonly nonResourcePath: string;
}

const GROUP = 'abac.authorization.kubernetes.io';
const VERSIONED = `${GROUP}/v1beta1`;
const LEGACY = `${GROUP}/v0`;

/** Throws an Error that says what is wrong with the line. */
export function parsePolicy(line: string): AbacPolicy {
  const tree = parseLine(line);
  const kind = textMember(tree, 'kind', '', unreadable) || 'Policy';
  const apiVersion = textMember(tree, 'apiVersion', '', unreadable) || LEGACY;
  if (kind !== 'Policy' || (apiVersion !== VERSIONED && apiVersion !== LEGACY)) {
    throw new Error(`no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)} in scheme ${SCHEME}`);
  }
  return apiVersion === VERSIONED ? versioned(tree) : legacy(tree);
}

const SCHEME = goQuote('pkg/apis/abac/register.go');

type Tree = Readonly<Record<string, unknown>>;

function parseLine(line: string): Tree {
  let tree: unknown;
  try {
    tree = JSON.parse(line);
  } catch (error) {
    throw unreadable(errorText(error));
  }
  if (tree === null) return {};
  if (typeof tree === 'object' && !Array.isArray(tree)) return tree as Tree;
  throw unreadable(cannotUnmarshal(tree, 'an object'));
}

const unreadable = (why: string): Error => new Error(`couldn't get version/kind; json parse error: ${why}`);

/** Says everything: what is left out matches nothing. */
function versioned(tree: Tree): AbacPolicy {
  const written = Object.hasOwn(tree, 'spec') ? (tree['spec'] ?? {}) : {};
  if (typeof written !== 'object' || Array.isArray(written)) {
    throw new Error(cannotUnmarshal(written, 'Go struct field Policy.spec of type v1beta1.PolicySpec'));
  }
  const spec = written as Tree;
  const text = (name: string): string => textMember(spec, name, 'PolicySpec.spec');
  const policy = {
    user: text('user'),
    group: text('group'),
    readonly: flagMember(spec, 'readonly', 'PolicySpec.spec'),
    apiGroup: text('apiGroup'),
    resource: text('resource'),
    namespace: text('namespace'),
    nonResourcePath: text('nonResourcePath'),
  };
  return { ...policy, ...subjectOf(policy) };
}

/** The form of old: what is left out matches everything. */
function legacy(tree: Tree): AbacPolicy {
  const text = (name: string): string => textMember(tree, name, 'Policy');
  const subject = { user: text('user'), group: text('group') };
  const nobody = subject.user === '' && subject.group === '';
  const [resource, namespace] = [text('resource'), text('namespace')];
  return {
    ...(nobody ? { user: '', group: AUTHENTICATED_GROUP } : subjectOf(subject)),
    readonly: flagMember(tree, 'readonly', 'Policy'),
    apiGroup: '*',
    resource: resource || '*',
    namespace: namespace || '*',
    nonResourcePath: resource === '' && namespace === '' ? '*' : '',
  };
}

/** Everybody is everybody who is known. */
const subjectOf = ({ user, group }: Pick<AbacPolicy, 'user' | 'group'>): Pick<AbacPolicy, 'user' | 'group'> =>
  user === '*' || group === '*' ? { user: '', group: AUTHENTICATED_GROUP } : { user, group };

function textMember(tree: Tree, name: string, parent: string, wrap = (why: string): Error => new Error(why)): string {
  const value = Object.hasOwn(tree, name) ? (tree[name] ?? '') : '';
  if (typeof value === 'string') return value;
  throw wrap(cannotUnmarshal(value, `Go struct field ${parent}.${name} of type string`));
}

function flagMember(tree: Tree, name: string, parent: string): boolean {
  const value = Object.hasOwn(tree, name) ? (tree[name] ?? false) : false;
  if (typeof value === 'boolean') return value;
  throw new Error(cannotUnmarshal(value, `Go struct field ${parent}.${name} of type bool`));
}

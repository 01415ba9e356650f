// Expressions of admission policies and of webhooks' match conditions. They see the `object`, the `oldObject`, the
// `request` and the `namespaceObject`; where declared, `params`, the `authorizer`, and the policy's `variables`.
import type { Environment, ObjectTypes, Program } from '../environment.js';
import type { ExpressionFault, PolicyEnvironment } from '../expression-check.js';
import { AUTHORIZER, RESOURCE_CHECK } from '../kubernetes/authorizer.js';
import { jsonPatchLibrary } from '../kubernetes/json-patch.js';
import { BOOL, type CelType, DYN, NULL, STRING, listType, mapType, objectType, parameter, sameType } from '../type.js';
import { CelError } from '../value.js';
import type { BaseEnvironments } from './base.js';
import { objectDeclaration } from './object-types.js';
import { APPLIED_OBJECT, JSON_PATCH, patchTypes } from './patch-types.js';
import { NAMESPACE, REQUEST, policyTypes } from './policy-types.js';
import { typeName } from './type-name.js';

const VARIABLES = objectType('kubernetes.variables');

/** The result type of each use; a variable may be anything. */
const RESULTS: Readonly<Record<PolicyEnvironment['use'], readonly CelType[]>> = {
  'match-condition': [BOOL],
  validation: [BOOL],
  message: [STRING],
  'audit-annotation': [STRING, NULL],
  variable: [],
  'apply-configuration': [APPLIED_OBJECT],
  'json-patch': [listType(JSON_PATCH)],
};

/** Why an expression may not be used. */
export function checkPolicyExpression(
  base: BaseEnvironments,
  expression: string,
  options: PolicyEnvironment,
): ExpressionFault | undefined {
  const compiled = compilePolicyExpression(base, expression, options);
  return 'evaluate' in compiled ? undefined : compiled;
}

/** The expression as a program, or why there is none. */
export function compilePolicyExpression(
  base: BaseEnvironments,
  expression: string,
  options: PolicyEnvironment,
): Program | ExpressionFault {
  const checked = policyEnvironment(base, options).compile(expression);
  if (checked.issues !== undefined) return { kind: 'invalid', detail: `compilation failed: ${checked.issues}` };
  const wanted = RESULTS[options.use];
  if (wanted.length > 0 && !wanted.some((type) => sameType(type, checked.type))) {
    const [only] = wanted;
    const names =
      wanted.length === 1 && only !== undefined ? typeName(only) : `one of [${wanted.map(typeName).join(' ')}]`;
    return { kind: 'invalid', detail: `must evaluate to ${names} but got ${typeName(checked.type)}` };
  }
  const program = checked.plan();
  if (!(program instanceof CelError)) return program;
  return { kind: 'internal', detail: `program instantiation failed: ${program.message}` };
}

function policyEnvironment(base: BaseEnvironments, options: PolicyEnvironment): Environment {
  return environmentWith(base, options, options.composed ? variableTypes(base, options) : undefined);
}

function environmentWith(
  base: BaseEnvironments,
  options: PolicyEnvironment,
  variables: ObjectTypes | undefined,
): Environment {
  const patches = options.use === 'apply-configuration' || options.use === 'json-patch';
  const types = [policyTypes, ...(patches ? [patchTypes] : []), ...(variables ? [variables] : [])];
  return base.of(options.stored).extend({
    ...(patches && { libraries: [jsonPatchLibrary] }),
    variables: {
      object: DYN,
      oldObject: DYN,
      namespaceObject: NAMESPACE,
      request: REQUEST,
      ...(options.params && { params: DYN }),
      ...(options.authorizer && { authorizer: AUTHORIZER, 'authorizer.requestResource': RESOURCE_CHECK }),
      ...(variables && { variables: VARIABLES }),
    },
    objectTypes: { find: (name) => firstOf(types, (one) => one.find(name)) },
  });
}

function firstOf<T, R>(all: readonly T[], answerOf: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const answer = answerOf(one);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

/** Fields of `variables` by the policy's list, which grows while the policy is read: each variable is compiled once. */
const fieldsOf = new WeakMap<PolicyEnvironment['variables'], KnownFields>();

/** One map for all: an expression is compiled before the variables after it are added. */
interface KnownFields {
  readonly types: Map<string, CelType>;
  count: number;
}

/** The type of `variables`: a field for each that comes before, of the type its expression has. */
function variableTypes(base: BaseEnvironments, options: PolicyEnvironment): ObjectTypes {
  const known = fieldsOf.get(options.variables) ?? { types: new Map<string, CelType>(), count: 0 };
  fieldsOf.set(options.variables, known);
  for (const { name, expression } of options.variables.slice(known.count)) {
    const types = typesWith(known.types);
    const environment = environmentWith(base, { ...options, use: 'variable', authorizer: true }, types);
    const checked = environment.compile(expression);
    known.types.set(name, checked.issues === undefined ? fieldType(checked.type) : DYN);
    known.count++;
  }
  return typesWith(known.types);
}

function typesWith(fields: ReadonlyMap<string, CelType>): ObjectTypes {
  const declaration = objectDeclaration(VARIABLES.name, fields);
  return { find: (name) => (name === VARIABLES.name ? declaration : undefined) };
}

const KEPT: ReadonlySet<CelType['kind']> = new Set<CelType['kind']>([
  'any',
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
]);

/** Of types that libraries add, variables forget what they are. */
function fieldType(type: CelType): CelType {
  if (KEPT.has(type.kind)) return type;
  if (type.kind === 'list') return listType(fieldType(parameter(type, 0)));
  if (type.kind === 'map') return mapType(fieldType(parameter(type, 0)), fieldType(parameter(type, 1)));
  return DYN;
}

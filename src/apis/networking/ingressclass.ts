import { append } from '../../lib/values/append.js';
import {
  type FieldErrors,
  FieldPath,
  forbidden,
  required,
  tooLong,
  plainNotSupported,
} from '../../machinery/field-error.js';
import { invalidEach, isDomainPrefixedPath, validateImmutableField } from '../../machinery/validation/fields.js';
import { isDns1123Label } from '../../machinery/validation/names.js';
import type { KindDefinition } from '../../registry/kind.js';
import { AGE_COLUMN, ageCell, column, NAME_COLUMN } from '../../registry/columns.js';
import type { IngressClass, IngressClassParametersReference } from '../../schema/generated/networking.v1.js';
import { validateTypedReference } from './typed-reference.js';

const SPEC = FieldPath.of('spec');
const CONTROLLER_MAX_BYTES = 250;
const SCOPES = ['Cluster', 'Namespace'];

export const ingressClasses: KindDefinition<IngressClass> = {
  group: 'networking.k8s.io',
  kind: 'IngressClass',
  plural: 'ingressclasses',
  singular: 'ingressclass',
  namespaced: false,
  versions: [
    {
      version: 'v1',
      defaults: ({ spec }) => {
        if (spec.parameters !== undefined) spec.parameters.scope ??= 'Cluster';
      },
    },
  ],
  storageVersion: 'v1',
  strategy: {
    metadataRules: { placedOnUpdate: true },
    hasGeneration: true,
    validate,
    validateUpdate: (object, old, _context, { whole, change }) => [
      ...change,
      ...validateImmutableField(object.spec.controller ?? '', old.spec.controller ?? '', SPEC.child('controller')),
      ...whole,
      ...validate(object),
    ],
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Controller', 'Controller that is responsible for handling this class'),
      column('Parameters', 'A reference to a resource with additional parameters'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.spec.controller ?? '',
      parametersCell(object.spec.parameters),
      ageCell(object, now),
    ],
  },
};

function validate({ spec }: Readonly<IngressClass>): FieldErrors {
  const controller = spec.controller ?? '';
  const path = SPEC.child('controller');
  const errors: FieldErrors = [];
  if (Buffer.byteLength(controller) > CONTROLLER_MAX_BYTES) errors.push(tooLong(path, CONTROLLER_MAX_BYTES));
  append(errors, isDomainPrefixedPath(path, controller));
  if (spec.parameters !== undefined) append(errors, validateParameters(spec.parameters, SPEC.child('parameters')));
  return errors;
}

function validateParameters(parameters: Readonly<IngressClassParametersReference>, path: FieldPath): FieldErrors {
  const errors = validateTypedReference(parameters, path);
  const { scope, namespace } = parameters;
  const at = path.child('namespace');
  if (scope === null || scope === undefined) errors.push(required(path.child('scope')));
  else if (!SCOPES.includes(scope)) errors.push(plainNotSupported(path.child('scope'), scope, SCOPES));
  else if (scope === 'Cluster') {
    if (namespace !== undefined) errors.push(forbidden(at, "`parameters.scope` is set to 'Cluster'"));
  } else if (namespace === undefined) errors.push(required(at, "`parameters.scope` is set to 'Namespace'"));
  else append(errors, invalidEach(at, namespace, isDns1123Label(namespace)));
  return errors;
}

function parametersCell(parameters: Readonly<IngressClassParametersReference> | undefined): string {
  if (parameters === undefined) return '<none>';
  const { kind, apiGroup, name } = parameters;
  return `${apiGroup === undefined ? kind : `${kind}.${apiGroup}`}/${name}`;
}

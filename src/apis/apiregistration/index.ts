import { append } from '../../lib/values/append.js';
import { goQuote } from '../../lib/go/quote.js';
import { type FieldErrors, FieldPath, invalid, notSupported, required } from '../../machinery/field-error.js';
import { invalidEach } from '../../machinery/validation/fields.js';
import {
  isDns1035Label,
  isDns1123Subdomain,
  isValidPortNum,
  pathSegmentName,
} from '../../machinery/validation/names.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import type { KindDefinition } from '../../registry/kind.js';
import { timestamp } from '../../registry/registry.js';
import type { APIService } from '../../schema/generated/apiregistration.v1.js';

const GROUP = 'apiregistration.k8s.io';
const HTTPS_PORT = 443;
const MAX_GROUP_PRIORITY = 20_000;
const MAX_VERSION_PRIORITY = 1000;
const SPEC = FieldPath.of('spec');
const CONDITION_STATUSES = ['True', 'False', 'Unknown'];

/** What is said of a version that this server serves itself. */
export const LOCAL_AVAILABLE = {
  type: 'Available',
  status: 'True',
  reason: 'Local',
  message: 'Local APIServices are always available',
} as const;

const apiService: KindDefinition<APIService> = {
  group: GROUP,
  kind: 'APIService',
  plural: 'apiservices',
  singular: 'apiservice',
  categories: ['api-extensions'],
  namespaced: false,
  storage: { keyPrefix: `${GROUP}/apiservices` },
  versions: [{ version: 'v1', defaults: setDefaults }],
  storageVersion: 'v1',
  strategy: {
    metadataRules: {
      // The name follows from the spec, so it is checked with it.
      validateName: () => [],
      anyFinalizer: true,
    },
    hasStatus: true,
    hasGeneration: false,
    allowUnconditionalUpdate: false,
    prepareForCreate: (object, context) => {
      object.status = {};
      // Nothing has to be reached for what this server serves itself.
      if (object.spec.service === undefined) {
        object.status.conditions = [{ ...LOCAL_AVAILABLE, lastTransitionTime: timestamp(context.now()) }];
      }
    },
    validate: (object) => [...validateName(object), ...validateSpec(object)],
    validateUpdate: (object, _old, _context, { whole }) => [...whole, ...validateName(object), ...validateSpec(object)],
    status: {
      tables: false,
      prepareForUpdate: ({ metadata }, old) => {
        for (const member of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
          if (old.metadata[member] === undefined) delete metadata[member];
          else Object.assign(metadata, { [member]: structuredClone(old.metadata[member]) });
        }
      },
      validateUpdate: validateStatus,
    },
    resetFields: { '': [['status']], status: [['spec'], ['metadata']] },
  },
  subresources: { status: { kind: 'APIService', verbs: ['get', 'patch', 'update'] } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Service', 'The service that answers for this version, or this server itself.'),
      column('Available', 'Whether it can be reached.'),
      AGE_COLUMN,
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      serviceCell(object),
      availableCell(object),
      ageCell(object, now),
    ],
  },
};

export const apiregistrationKinds: readonly KindDefinition[] = [apiService];

function setDefaults({ spec: { service } }: APIService): void {
  if (service !== undefined) service.port ??= HTTPS_PORT;
}

function validateName({ metadata, spec }: Readonly<APIService>): FieldErrors {
  const wanted = `${spec.version ?? ''}.${spec.group ?? ''}`;
  const messages = (name: string): string[] => {
    const wrong = pathSegmentName(name, false);
    if (wrong.length > 0 || name === wanted) return wrong;
    return [`must be \`spec.version+"."+spec.group\`: ${goQuote(wanted)}`];
  };
  const { name = '', generateName = '' } = metadata;
  const path = FieldPath.of('metadata');
  return [
    ...(generateName === '' ? [] : invalidEach(path.child('generateName'), generateName, messages(generateName))),
    ...(name === '' ? [] : invalidEach(path.child('name'), name, messages(name))),
  ];
}

function validateSpec({ spec }: Readonly<APIService>): FieldErrors {
  const { group = '', version = '', groupPriorityMinimum, versionPriority } = spec;
  const errors: FieldErrors = [];
  if (group === '' && version !== 'v1') {
    errors.push(required(SPEC.child('group'), 'only v1 may have an empty group and it better be legacy kube'));
  }
  if (group !== '') append(errors, invalidEach(SPEC.child('group'), group, isDns1123Subdomain(group)));
  append(errors, invalidEach(SPEC.child('version'), version, isDns1035Label(version)));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > MAX_GROUP_PRIORITY) {
    const why = `must be positive and less than ${MAX_GROUP_PRIORITY}`;
    errors.push(invalid(SPEC.child('groupPriorityMinimum'), groupPriorityMinimum, why));
  }
  if (versionPriority <= 0 || versionPriority > MAX_VERSION_PRIORITY) {
    const why = `must be positive and less than ${MAX_VERSION_PRIORITY}`;
    errors.push(invalid(SPEC.child('versionPriority'), versionPriority, why));
  }
  return [...errors, ...(spec.service === undefined ? validateLocal(spec) : validateRemote(spec))];
}

function validateLocal({ caBundle = '', insecureSkipTLSVerify }: Readonly<APIService['spec']>): FieldErrors {
  const errors: FieldErrors = [];
  if (caBundle !== '') {
    const size = `${Buffer.from(caBundle, 'base64').length} bytes`;
    errors.push(invalid(SPEC.child('caBundle'), size, 'local APIServices may not have a caBundle'));
  }
  if (insecureSkipTLSVerify) {
    const why = 'local APIServices may not have insecureSkipTLSVerify';
    errors.push(invalid(SPEC.child('insecureSkipTLSVerify'), true, why));
  }
  return errors;
}

function validateRemote({ service, caBundle = '', insecureSkipTLSVerify }: Readonly<APIService['spec']>): FieldErrors {
  const path = SPEC.child('service');
  const errors: FieldErrors = [];
  if (!service?.namespace) errors.push(required(path.child('namespace')));
  if (!service?.name) errors.push(required(path.child('name')));
  const port = service?.port ?? 0;
  const wrong = isValidPortNum(port);
  if (wrong.length > 0) errors.push(invalid(path.child('port'), port, `port is not valid: ${wrong.join(', ')}`));
  if (insecureSkipTLSVerify && caBundle !== '') {
    errors.push(invalid(SPEC.child('insecureSkipTLSVerify'), true, 'may not be true if caBundle is present'));
  }
  return errors;
}

function validateStatus({ status }: Readonly<APIService>): FieldErrors {
  return (status.conditions ?? []).flatMap((condition, i) =>
    CONDITION_STATUSES.includes(condition.status)
      ? []
      : [
          notSupported(
            FieldPath.of('status', 'conditions').index(i).child('status'),
            condition.status,
            CONDITION_STATUSES,
          ),
        ],
  );
}

const serviceCell = ({ spec: { service } }: Readonly<APIService>): string =>
  service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`;

function availableCell({ status }: Readonly<APIService>): string {
  const condition = status.conditions?.find(({ type }) => type === 'Available');
  if (condition === undefined) return 'Unknown';
  return condition.status === 'True' || !condition.reason
    ? condition.status
    : `${condition.status} (${condition.reason})`;
}

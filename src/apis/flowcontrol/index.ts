import type { FieldErrors } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/object.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell, column } from '../../registry/columns.js';
import { deprecated } from '../../registry/deprecated-version.js';
import type { KindDefinition, Strategy } from '../../registry/kind.js';
import type { FlowSchema, PriorityLevelConfiguration } from '../../schema/generated/flowcontrol.v1.js';
import { validateConditionTypes, validateFlowSchema, validatePriorityLevel } from './validation.js';

const GROUP = 'flowcontrol.apiserver.k8s.io';
const STATUS = { verbs: ['get', 'patch', 'update'] } as const;

const deprecatedIn = (kind: string) =>
  deprecated(`${GROUP}/v1beta3 ${kind}`, { in: '1.29', removedIn: '1.32', use: `${GROUP}/v1 ${kind}` });

const flowSchema: KindDefinition<FlowSchema> = {
  group: GROUP,
  kind: 'FlowSchema',
  plural: 'flowschemas',
  singular: 'flowschema',
  namespaced: false,
  versions: [
    { version: 'v1', defaults: defaultFlowSchema },
    { version: 'v1beta3', enabledByDefault: false, ...deprecatedIn('FlowSchema'), defaults: defaultFlowSchema },
  ],
  storageVersion: 'v1',
  strategy: strategyOf(validateFlowSchema),
  subresources: { status: { kind: 'FlowSchema', ...STATUS } },
  table: {
    columns: [
      NAME_COLUMN,
      column('PriorityLevel', 'The priority level its requests share.'),
      column('MatchingPrecedence', 'Where it stands among the schemas: low numbers are tried first.'),
      column('DistinguisherMethod', 'What tells the flows of its requests apart.'),
      AGE_COLUMN,
      column('MissingPL', 'Whether its priority level is missing.'),
    ],
    row: (object, now) => [
      object.metadata.name ?? '',
      object.spec.priorityLevelConfiguration.name,
      object.spec.matchingPrecedence,
      object.spec.distinguisherMethod?.type ?? '<none>',
      ageCell(object, now),
      object.status.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ],
    // As they are tried.
    compareRows: (a, b) =>
      a.spec.matchingPrecedence - b.spec.matchingPrecedence ||
      ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1),
  },
};

const priorityLevelConfiguration: KindDefinition<PriorityLevelConfiguration> = {
  group: GROUP,
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
  singular: 'prioritylevelconfiguration',
  namespaced: false,
  versions: [
    { version: 'v1', defaults: defaultPriorityLevel },
    {
      version: 'v1beta3',
      enabledByDefault: false,
      ...deprecatedIn('PriorityLevelConfiguration'),
      defaults: defaultBetaPriorityLevel,
      toStorage: withoutZeroMark,
      fromStorage: withZeroMark,
    },
  ],
  storageVersion: 'v1',
  strategy: strategyOf(validatePriorityLevel),
  subresources: { status: { kind: 'PriorityLevelConfiguration', ...STATUS } },
  table: {
    columns: [
      NAME_COLUMN,
      column('Type', 'Whether its requests are limited.'),
      column('NominalConcurrencyShares', 'Its share of the seats, beside that of others.'),
      column('Queues', 'How many queues its requests wait in.'),
      column('HandSize', 'How many queues a flow is dealt.'),
      column('QueueLengthLimit', 'How many requests may wait in a queue.'),
      AGE_COLUMN,
    ],
    row: (object, now) => {
      const { limited } = object.spec;
      const queuing = limited?.limitResponse.queuing;
      return [
        object.metadata.name ?? '',
        object.spec.type,
        limited?.nominalConcurrencyShares ?? '<none>',
        queuing?.queues ?? '<none>',
        queuing?.handSize ?? '<none>',
        queuing?.queueLengthLimit ?? '<none>',
        ageCell(object, now),
      ];
    },
  },
};

export const flowcontrolKinds: readonly KindDefinition[] = [flowSchema, priorityLevelConfiguration];

type WithConditions = KubeObject & { status: { conditions?: readonly { readonly type?: string }[] } };

function strategyOf<T extends WithConditions>(validate: (object: Readonly<T>) => FieldErrors): Strategy<T> {
  return {
    metadataRules: { placedOnUpdate: true },
    hasStatus: true,
    prepareForCreate: (object) => {
      object.status = {};
    },
    validate,
    validateUpdate: (object, _old, _context, { whole }) => [...whole, ...validate(object)],
    status: {
      metadataRules: { placedOnUpdate: true },
      // Nothing of the metadata changes with the status but who owns which field.
      prepareForUpdate: (object, old) => {
        const { managedFields } = object.metadata;
        object.metadata = structuredClone(old.metadata);
        if (managedFields === undefined) delete object.metadata.managedFields;
        else object.metadata.managedFields = managedFields;
      },
      validateUpdate: ({ status }) => validateConditionTypes(status.conditions),
    },
    resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
  };
}

const MATCHING_PRECEDENCE = 1000;
const NOMINAL_SHARES = 30;
const QUEUES = 64;
const HAND_SIZE = 8;
const QUEUE_LENGTH_LIMIT = 50;

function defaultFlowSchema({ spec }: FlowSchema): void {
  spec.matchingPrecedence ||= MATCHING_PRECEDENCE;
}

function defaultPriorityLevel({ spec: { limited, exempt } }: PriorityLevelConfiguration): void {
  if (limited !== undefined) {
    limited.nominalConcurrencyShares ??= NOMINAL_SHARES;
    limited.lendablePercent ??= 0;
    const { queuing } = limited.limitResponse;
    if (queuing !== undefined) {
      queuing.queues ||= QUEUES;
      queuing.handSize ||= HAND_SIZE;
      queuing.queueLengthLimit ||= QUEUE_LENGTH_LIMIT;
    }
  }
  if (exempt !== undefined) {
    exempt.nominalConcurrencyShares ??= 0;
    exempt.lendablePercent ??= 0;
  }
}

/** In v1beta3 zero shares look like unset ones; this annotation says that zero is meant. */
const ZERO_MARK = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares';

function defaultBetaPriorityLevel(object: PriorityLevelConfiguration): void {
  const { limited } = object.spec;
  const meansZero = object.metadata.annotations?.[ZERO_MARK] !== undefined;
  if (limited !== undefined) limited.nominalConcurrencyShares ||= meansZero ? 0 : NOMINAL_SHARES;
  defaultPriorityLevel(object);
}

function withoutZeroMark(object: PriorityLevelConfiguration): PriorityLevelConfiguration {
  const { annotations } = object.metadata;
  if (annotations?.[ZERO_MARK] === undefined) return object;
  const { [ZERO_MARK]: _, ...rest } = annotations;
  const { annotations: __, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(rest).length > 0 ? { ...metadata, annotations: rest } : metadata };
}

function withZeroMark(object: PriorityLevelConfiguration): PriorityLevelConfiguration {
  if (object.spec.limited?.nominalConcurrencyShares !== 0) return object;
  const annotations = { ...object.metadata.annotations, [ZERO_MARK]: '' };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

import type { ExpressionChecker } from '../../cel/expression-check.js';
import { AGE_COLUMN, NAME_COLUMN, ageCell } from '../../registry/columns.js';
import type { Column, KindDefinition, Strategy } from '../../registry/kind.js';
import type {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
} from '../../schema/generated/admissionregistration.v1.js';
import { defaultMutatingWebhooks, defaultValidatingWebhooks } from './defaults.js';
import { GROUP } from './policies.js';
import { validateWebhooks } from './webhook-validation.js';

type Configuration = ValidatingWebhookConfiguration | MutatingWebhookConfiguration;

export const validatingWebhookConfiguration = (
  checker: ExpressionChecker | undefined,
): KindDefinition<ValidatingWebhookConfiguration> => ({
  group: GROUP,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  singular: 'validatingwebhookconfiguration',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ version: 'v1', defaults: defaultValidatingWebhooks }],
  storageVersion: 'v1',
  strategy: strategyOf(checker),
  table: { columns: COLUMNS, row },
});

export const mutatingWebhookConfiguration = (
  checker: ExpressionChecker | undefined,
): KindDefinition<MutatingWebhookConfiguration> => ({
  group: GROUP,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  singular: 'mutatingwebhookconfiguration',
  categories: ['api-extensions'],
  namespaced: false,
  versions: [{ version: 'v1', defaults: defaultMutatingWebhooks }],
  storageVersion: 'v1',
  strategy: strategyOf(checker),
  table: { columns: COLUMNS, row },
});

const strategyOf = (checker: ExpressionChecker | undefined): Strategy<Configuration> => ({
  metadataRules: { anyFinalizer: true, placedOnUpdate: true },
  hasGeneration: true,
  emptyIsChange: true,
  allowUnconditionalUpdate: false,
  validate: (object) => validateWebhooks(object.webhooks, undefined, checker),
  validateUpdate: (object, old, _context, { whole }) => [
    ...whole,
    ...validateWebhooks(object.webhooks, old.webhooks ?? [], checker),
  ],
});

const COLUMNS: readonly Column[] = [
  NAME_COLUMN,
  { name: 'Webhooks', type: 'integer', description: 'How many webhooks the configuration registers.' },
  AGE_COLUMN,
];

const row = (object: Readonly<Configuration>, now: Date) => [
  object.metadata.name ?? '',
  (object.webhooks ?? []).length,
  ageCell(object, now),
];

import { FieldPath } from '../../../machinery/field-error.js';
import { nameIsDnsSubdomain } from '../../../machinery/validation/names.js';
import { labelsCell, column, NAME_COLUMN } from '../../../registry/columns.js';
import type { KindDefinition } from '../../../registry/kind.js';
import type { PodTemplate } from '../../../schema/generated/core.v1.js';
import { containerCells } from '../pod/columns.js';
import { defaultPodTemplate, defaultTemplateBehindGates } from '../pod/defaults.js';
import { samePodTemplate } from '../pod/equal.js';
import { isNewGeneration, templateWarnings, workloadHooks } from '../pod/template-strategy.js';
import { podRules } from '../pod/validation/options.js';
import { validatePodTemplateSpec } from '../pod/validation/pod.js';

const TEMPLATE = FieldPath.of('template');

export const podTemplates: KindDefinition<PodTemplate> = {
  group: '',
  kind: 'PodTemplate',
  plural: 'podtemplates',
  singular: 'podtemplate',
  namespaced: true,
  versions: [
    {
      version: 'v1',
      defaults: ({ template }) => defaultPodTemplate(template),
      defaultsBehindGates: ({ template }, features) => defaultTemplateBehindGates(template, features),
    },
  ],
  storageVersion: 'v1',
  strategy: {
    ...workloadHooks<PodTemplate>({
      same: (a, b) => samePodTemplate(a.template, b.template),
      template: ({ template }) => template,
    }),
    metadataRules: { validateName: nameIsDnsSubdomain },
    validate: ({ template }, context) => validatePodTemplateSpec(template, TEMPLATE, podRules(context, false)),
    validateUpdate: ({ template }, old, context) =>
      validatePodTemplateSpec(template, TEMPLATE, podRules(context, false, old.template)),
    warningsOnCreate: ({ template }, context) => templateWarnings(template, context, TEMPLATE),
    warningsOnUpdate: (object, old, context) =>
      isNewGeneration(object, old) ? templateWarnings(object.template, context, TEMPLATE) : [],
    delete: { returnsObject: true },
    resetFields: { '': [] },
  },
  table: {
    columns: [
      NAME_COLUMN,
      column('Containers', 'Names of each container in the template.'),
      column('Images', 'Images referenced by each container in the template.'),
      column('Pod Labels', 'The labels for the pod template.'),
    ],
    row: ({ metadata, template }) => [
      metadata.name ?? '',
      ...containerCells(template.spec.containers),
      labelsCell(template.metadata.labels),
    ],
  },
};

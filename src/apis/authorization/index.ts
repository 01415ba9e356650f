import type { Authorizer } from '../../authz/authorizer.js';
import { runCooperatively } from '../../lib/scheduling/yield.js';
import type { FieldErrors } from '../../machinery/field-error.js';
import type { KubeObject } from '../../machinery/object.js';
import { badRequest, invalid } from '../../machinery/status.js';
import { NAME_COLUMN } from '../../registry/columns.js';
import type { KindDefinition, LifeContext } from '../../registry/kind.js';
import type {
  LocalSubjectAccessReview,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewStatus,
} from '../../schema/generated/authorization.v1.js';
import { type ReviewQuestion, questionOf, userOf } from './attributes.js';
import {
  validateLocalSubjectAccessReview,
  validateSelfSubjectAccessReview,
  validateSubjectAccessReview,
} from './validation.js';

const GROUP = 'authorization.k8s.io';

/** The reviews: questions about access, answered and not kept. */
export function authorizationKinds({ authorizer }: { readonly authorizer: Authorizer }): readonly KindDefinition[] {
  return [
    review<SubjectAccessReview>('SubjectAccessReview', false, async (object, context) => {
      clearSelectorsIfDisabled(object.spec, context);
      check(await runCooperatively(validateSubjectAccessReview(object)));
      const { resourceAttributes, nonResourceAttributes } = object.spec;
      const question = await runCooperatively(
        questionOf(userOf(object.spec), resourceAttributes, nonResourceAttributes),
      );
      return { ...object, status: await answer(authorizer, question, context) };
    }),
    review<SelfSubjectAccessReview>('SelfSubjectAccessReview', false, async (object, context) => {
      clearSelectorsIfDisabled(object.spec, context);
      check(await runCooperatively(validateSelfSubjectAccessReview(object)));
      const { resourceAttributes, nonResourceAttributes } = object.spec;
      const question = await runCooperatively(questionOf(context.user, resourceAttributes, nonResourceAttributes));
      return { ...object, status: await answer(authorizer, question, context) };
    }),
    largeAnswers(
      review<SelfSubjectRulesReview>('SelfSubjectRulesReview', false, async (object, context) => {
        const namespace = object.spec.namespace ?? '';
        if (namespace === '') throw badRequest('no namespace on request');
        const rules = await authorizer.rulesFor(context.user, namespace);
        const { resourceRules, nonResourceRules, incomplete, evaluationError } = rules;
        return {
          kind: 'SelfSubjectRulesReview',
          apiVersion: `${GROUP}/v1`,
          metadata: {},
          spec: {},
          status: {
            resourceRules: resourceRules.map(withoutEmpty),
            nonResourceRules: nonResourceRules.map(withoutEmpty),
            incomplete,
            ...(evaluationError === undefined ? {} : { evaluationError }),
          },
        };
      }),
    ),
    review<LocalSubjectAccessReview>('LocalSubjectAccessReview', true, async (object, context) => {
      clearSelectorsIfDisabled(object.spec, context);
      check(await runCooperatively(validateLocalSubjectAccessReview(object)));
      const { namespace } = context;
      if (namespace === '') throw badRequest('namespace is required on this type: ');
      if (namespace !== object.metadata.namespace) {
        throw badRequest(`spec.resourceAttributes.namespace must match namespace: ${namespace}`);
      }
      const question = await runCooperatively(
        questionOf(userOf(object.spec), object.spec.resourceAttributes, undefined),
      );
      return { ...object, status: await answer(authorizer, question, context) };
    }),
  ];
}

function review<T extends KubeObject>(
  kind: string,
  namespaced: boolean,
  create: (object: T, context: LifeContext) => Promise<object>,
): KindDefinition<T> {
  return {
    group: GROUP,
    kind,
    plural: `${kind.toLowerCase()}s`,
    singular: kind.toLowerCase(),
    namespaced,
    versions: [{ version: 'v1' }],
    storageVersion: 'v1',
    verbs: ['create'],
    strategy: { validate: () => [], validateUpdate: () => [] },
    table: { columns: [NAME_COLUMN], row: (object) => [object.metadata.name ?? ''] },
    virtual: { create },
  };
}

const largeAnswers = <T extends KubeObject>(kind: KindDefinition<T>): KindDefinition<T> => ({
  ...kind,
  virtual: { ...kind.virtual, largeAnswers: true },
});

async function answer(
  authorizer: Authorizer,
  question: ReviewQuestion,
  { waiting }: LifeContext,
): Promise<SubjectAccessReviewStatus> {
  const { decision, reason, evaluationError } = await authorizer.authorize(question.attributes, waiting);
  const errors = [...(evaluationError === undefined ? [] : [evaluationError]), ...question.warnings].join('; ');
  return {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors === '' ? {} : { evaluationError: errors }),
  };
}

/** The error names no kind: so clients have always seen it. */
function check(errors: FieldErrors): void {
  if (errors.length > 0) throw invalid({ group: GROUP, kind: '' }, '', errors);
}

function clearSelectorsIfDisabled(spec: SelfSubjectAccessReview['spec'], context: LifeContext): void {
  if (spec.resourceAttributes === undefined || context.features.enabled('AuthorizeWithSelectors')) return;
  delete spec.resourceAttributes.fieldSelector;
  delete spec.resourceAttributes.labelSelector;
}

/** In normal form: lists that are left out when empty are absent. */
function withoutEmpty(rule: object): object {
  return Object.fromEntries(
    Object.entries(rule).filter(([name, value]) => name === 'verbs' || !(Array.isArray(value) && value.length === 0)),
  );
}

import {
  aggregateText,
  type FieldErrors,
  FieldPath,
  fieldErrorText,
  required,
  plainNotSupported,
} from '../../../machinery/field-error.js';
import { badRequest, conflict, StatusError } from '../../../machinery/status.js';
import { goQuote } from '../../../lib/go/quote.js';
import type { KubeObject } from '../../../machinery/object.js';
import type { StatusStrategy, SubresourceAction } from '../../../registry/kind.js';
import type { Binding, Pod } from '../../../schema/generated/core.v1.js';
import { setPodCondition } from './conditions.js';

const PODS = { group: '', resource: 'pods' };
export const SUCCESS = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

/** The server's own write of a bound pod: a pod's rules would refuse it. Not served to clients. */
export const bindingRules: StatusStrategy<Pod> = { validateUpdate: () => [] };

type BindAction = Omit<SubresourceAction, 'annotate' | 'review'>;

/** A scheduler puts a pod on a node. */
export async function bindPod({ name, namespace, body, context, operations }: BindAction): Promise<{
  code: number;
  object: object;
}> {
  const binding = body as KubeObject & Binding;
  if (name !== (binding.metadata.name ?? '')) throw badRequest('name in URL does not match name in Binding object');
  const errors = validateBinding(binding);
  if (errors.length > 0) throw new StatusError(500, '', aggregateText(errors.map(fieldErrorText)));
  const refuse = (why: string): StatusError => conflict({ group: '', resource: 'pods/binding' }, name, why);
  const bind = (object: KubeObject): KubeObject => {
    const pod = object as Pod;
    const { metadata, spec, status } = pod;
    if (metadata.deletionTimestamp) throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
    if (spec.nodeName) throw refuse(`pod ${name} is already assigned to node ${goQuote(spec.nodeName)}`);
    if (spec.schedulingGates) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
    spec.nodeName = binding.target.name ?? '';
    const wasNominated = status.nominatedNodeName !== undefined;
    if (wasNominated && context.features.enabled('ClearingNominatedNodeNameAfterBinding')) {
      delete status.nominatedNodeName;
    }
    const { annotations, labels } = binding.metadata;
    if (annotations) metadata.annotations = { ...metadata.annotations, ...annotations };
    if (labels && context.features.enabled('PodTopologyLabelsAdmission')) {
      metadata.labels = { ...metadata.labels, ...labels };
    }
    setPodCondition(status, { type: 'PodScheduled', status: 'True' }, context.now());
    return pod;
  };
  const { uid, resourceVersion } = binding.metadata;
  await operations.update({
    resource: PODS,
    namespace,
    name,
    subresource: 'binding',
    change: bind,
    context,
    preconditions: { uid, resourceVersion },
  });
  return { code: 201, object: SUCCESS };
}

function validateBinding({ target }: Readonly<Binding>): FieldErrors {
  const errors: FieldErrors = [];
  if (target.kind && target.kind !== 'Node') {
    errors.push(plainNotSupported(FieldPath.of('target', 'kind'), target.kind, ['Node', '<empty>']));
  }
  if (!target.name) errors.push(required(FieldPath.of('target', 'name')));
  return errors;
}

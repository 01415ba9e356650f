import type { FeatureGates } from '../../registry/kind.js';
import { deepCopy } from '../../schema/deep-copy.js';
import type { Job } from '../../schema/generated/batch.v1.js';
import type { Container, Pod } from '../../schema/generated/core.v1.js';
import { OUTCOME_ANNOTATION } from '../kubelet/outcome.js';
import { generatedName, makePod } from '../pod/make-pod.js';

/** Keeps a pod until it is counted. */
export const TRACKING_FINALIZER = 'batch.kubernetes.io/job-tracking';
const INDEX = 'batch.kubernetes.io/job-completion-index';
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

export interface JobPodOptions {
  readonly job: Readonly<Job>;
  /** Of an indexed job. */
  readonly index: number | undefined;
  readonly suffix: string;
  readonly features: FeatureGates;
}

/** A pod of a job. What the job says of its outcome is for those pods whose template says nothing. */
export function makeJobPod({ job, index, suffix, features }: JobPodOptions): Pod {
  const template = deepCopy(job.spec.template);
  const { metadata, spec } = template;
  const outcome = job.metadata.annotations?.[OUTCOME_ANNOTATION];
  metadata.finalizers = [...(metadata.finalizers ?? []), TRACKING_FINALIZER];
  if (outcome !== undefined) metadata.annotations = { [OUTCOME_ANNOTATION]: outcome, ...metadata.annotations };
  if (index !== undefined) {
    metadata.annotations = { ...metadata.annotations, [INDEX]: String(index) };
    metadata.labels = { ...metadata.labels, [INDEX]: String(index) };
    spec.hostname = `${job.metadata.name}-${index}`;
    for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) addIndexVariable(container);
  }
  const generateName = index === undefined ? `${job.metadata.name}-` : `${job.metadata.name}-${index}-`;
  return makePod({ name: generatedName(generateName, suffix), generateName, owner: job, template, features });
}

export function indexOf({ metadata }: Readonly<Pod>): number | undefined {
  const text = metadata.annotations?.[INDEX];
  return text === undefined ? undefined : Number(text);
}

export const isTracked = ({ metadata }: Readonly<Pod>): boolean =>
  metadata.finalizers?.includes(TRACKING_FINALIZER) === true;

function addIndexVariable(container: Container): void {
  if (container.env?.some(({ name }) => name === INDEX_VARIABLE) === true) return;
  const fieldRef = { apiVersion: 'v1', fieldPath: `metadata.labels['${INDEX}']` };
  container.env = [...(container.env ?? []), { name: INDEX_VARIABLE, valueFrom: { fieldRef } }];
}

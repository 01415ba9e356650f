import { pods as podKind } from '../../apis/core/pod/definition.js';
import { defaultPod } from '../../apis/core/pod/defaults.js';
import type { KubeObject, OwnerReference } from '../../machinery/object.js';
import type { FeatureGates } from '../../registry/kind.js';
import { deepCopy } from '../../schema/deep-copy.js';
import type { Pod, PodTemplateSpec } from '../../schema/generated/core.v1.js';

/** Of a name of 63 characters, five are generated. */
const MAX_PREFIX = 58;

export interface PodOptions {
  readonly name: string;
  readonly generateName?: string;
  readonly owner: Readonly<KubeObject>;
  readonly template: Readonly<PodTemplateSpec>;
  readonly features: FeatureGates;
}

/** A pod as a controller sends it, with its defaults. */
export function makePod({ name, generateName, owner, template, features }: PodOptions): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  const pod = deepCopy({
    kind: podKind.kind,
    apiVersion: 'v1',
    metadata: {
      name,
      ...(generateName !== undefined && { generateName }),
      ...(owner.metadata.namespace !== undefined && { namespace: owner.metadata.namespace }),
      ...(labels !== undefined && { labels }),
      ...(annotations !== undefined && { annotations }),
      ...(finalizers !== undefined && { finalizers }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: template.spec,
    status: {},
  } as KubeObject) as Pod;
  defaultPod(pod, features);
  return pod;
}

export function controllerReference({ apiVersion = '', kind = '', metadata }: Readonly<KubeObject>): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** What kube-apiserver makes of `generateName`; here, so that the name is known before the object is. */
export const generatedName = (generateName: string, suffix: string): string =>
  generateName.slice(0, MAX_PREFIX) + suffix;

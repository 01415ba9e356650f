// System call filters, which both levels look at: in annotations once, in fields since 1.19.
import { allContainers } from '../../apis/core/pod/containers.js';
import { goQuote } from '../../lib/go/quote.js';
import {
  type CheckedPod,
  containersText,
  namesOfContainers,
  plural,
  quoted,
  settersText,
  sortedSet,
  type Violation,
} from './check.js';

const POD_ANNOTATION = 'seccomp.security.alpha.kubernetes.io/pod';
const CONTAINER_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
const ALLOWED = ['Localhost', 'RuntimeDefault'];

export function seccompAnnotations({ metadata, spec }: CheckedPod): Violation | undefined {
  const keys = [POD_ANNOTATION, ...allContainers(spec).map(({ name }) => CONTAINER_PREFIX + name)];
  const wrong = sortedSet(
    keys.flatMap((key) => {
      const value = metadata?.annotations?.[key];
      return value === undefined || isAllowedAnnotation(value) ? [] : [`${key}=${goQuote(value)}`];
    }),
  );
  if (wrong.length === 0) return undefined;
  return { reason: 'seccompProfile', detail: `forbidden ${plural('annotation', wrong.length)} ${wrong.join(', ')}` };
}

/** `demanded`: a filter has to be there, set for the pod or for each container. */
export function seccompFields(pod: CheckedPod, demanded: boolean): Violation | undefined {
  const wrong = (type: string | undefined): boolean => type !== undefined && !ALLOWED.includes(type);
  const ofPod = pod.spec.securityContext?.seccompProfile?.type;
  const containers = allContainers(pod.spec).filter(({ securityContext }) =>
    wrong(securityContext?.seccompProfile?.type),
  );
  if (wrong(ofPod) || containers.length > 0) {
    const types = containers.map(({ securityContext }) => securityContext?.seccompProfile?.type ?? '');
    const setters = settersText(
      wrong(ofPod),
      containers.map(({ name }) => name),
    );
    const values = quoted(sortedSet(wrong(ofPod) ? [ofPod ?? '', ...types] : types));
    return {
      reason: 'seccompProfile',
      detail: `${setters} must not set securityContext.seccompProfile.type to ${values}`,
    };
  }
  if (!demanded || ofPod !== undefined) return undefined;
  const without = namesOfContainers(pod, ({ securityContext }) => securityContext?.seccompProfile === undefined);
  if (without.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(without)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

const isAllowedAnnotation = (value: string): boolean =>
  value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');

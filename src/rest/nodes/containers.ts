import { badRequest } from '../../machinery/status.js';
import type { Pod } from '../../schema/generated/core.v1.js';

/** The container that is meant, when it can be told. */
export function containerOf(pod: Pod, asked: string): string {
  const name = pod.metadata?.name ?? '';
  const containers = pod.spec?.containers ?? [];
  const initContainers = pod.spec?.initContainers ?? [];
  const ephemeral = pod.spec?.ephemeralContainers ?? [];
  if (asked !== '') {
    const known = [...containers, ...initContainers, ...ephemeral].some((container) => container.name === asked);
    if (!known) throw badRequest(`container ${asked} is not valid for pod ${name}`);
    return asked;
  }
  const [only] = containers;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`);
  if (containers.length === 1) return only.name;
  const names = [...initContainers, ...containers, ...ephemeral].map((container) => container.name).join(' ');
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names}]`);
}

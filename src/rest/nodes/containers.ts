import { badRequest } from '../../machinery/status.js';
import type { Pod } from '../../schema/generated/core.v1.js';

/** The container that is meant, when that is clear. */
export function containerOf(pod: Pod, requested: string): string {
  const name = pod.metadata?.name ?? '';
  const containers = pod.spec?.containers ?? [];
  const initContainers = pod.spec?.initContainers ?? [];
  const ephemeral = pod.spec?.ephemeralContainers ?? [];
  if (requested !== '') {
    const known = [...containers, ...initContainers, ...ephemeral].some((container) => container.name === requested);
    if (!known) throw badRequest(`container ${requested} is not valid for pod ${name}`);
    return requested;
  }
  const [only] = containers;
  if (only === undefined) throw badRequest(`a container name must be specified for pod ${name}`);
  if (containers.length === 1) return only.name;
  const names = [...initContainers, ...containers, ...ephemeral].map((container) => container.name).join(' ');
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names}]`);
}

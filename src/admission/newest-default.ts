import type { KubeObject } from '../machinery/object.js';
import type { GroupResource } from '../machinery/status.js';
import type { LifeContext } from '../registry/kind.js';

/** Of the classes marked as default the newest counts; of those made at the same moment, the first by name. */
export async function newestDefault(
  { lookup }: LifeContext,
  classes: GroupResource,
  annotations: readonly string[],
): Promise<string | undefined> {
  const all = await lookup.list(classes, '');
  const marked = all
    .map((item) => item.object())
    .filter(({ metadata }) => annotations.some((annotation) => metadata.annotations?.[annotation] === 'true'));
  return marked.sort(newestFirst)[0]?.metadata.name;
}

function newestFirst(a: Readonly<KubeObject>, b: Readonly<KubeObject>): number {
  const [left, right] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  if (left !== right) return left > right ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}

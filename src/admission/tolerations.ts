import { deepEqual } from '../lib/deep-equal.js';
import type { Toleration } from '../schema/generated/core.v1.js';

/** Both lists in one, without those another one says already. */
export function mergeTolerations(first: readonly Toleration[], second: readonly Toleration[]): Toleration[] {
  const all = [...first, ...second];
  const merged: Toleration[] = [];
  for (const [position, toleration] of all.entries()) {
    if (merged.some((kept) => covers(kept, toleration))) continue;
    const later = all.slice(position + 1);
    if (later.some((other) => !deepEqual(other, toleration) && covers(other, toleration))) continue;
    merged.push(toleration);
  }
  return merged;
}

/** Whether each toleration is covered by one that is allowed. No list allows everything. */
export const allowedBy = (tolerations: readonly Toleration[], allowed: readonly Toleration[]): boolean =>
  allowed.length === 0 || tolerations.every((toleration) => allowed.some((wide) => covers(wide, toleration)));

/** Whether everything `narrow` tolerates is tolerated by `wide`, too. */
function covers(wide: Toleration, narrow: Toleration): boolean {
  if (deepEqual(wide, narrow)) return true;
  const [wideKey, narrowKey] = [wide.key ?? '', narrow.key ?? ''];
  if (narrowKey !== wideKey && (wideKey !== '' || wide.operator !== 'Exists')) return false;
  if ((narrow.effect ?? '') !== (wide.effect ?? '') && wide.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds !== undefined) {
    if (narrow.tolerationSeconds === undefined || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  switch (wide.operator ?? '') {
    case '':
    case 'Equal':
      return narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
    case 'Exists':
      return true;
    default:
      return false;
  }
}

// Custom resources that others than their writer changed are seen as those left them until they are stored: what their
// schema does not know goes only then. This keeps which these are, for as long as they live.

const unpruned = new WeakSet<object>();

export function markNeedsPruning(object: object): void {
  unpruned.add(object);
}

export const needsPruning = (object: object): boolean => unpruned.has(object);

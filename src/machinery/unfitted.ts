// Custom resources that others than their writer changed are seen as those left them until they are stored: what their
// schema does not know goes only then. This remembers which these are, for as long as they live.

const unfitted = new WeakSet<object>();

export function noteUnfitted(object: object): void {
  unfitted.add(object);
}

export const isUnfitted = (object: object): boolean => unfitted.has(object);

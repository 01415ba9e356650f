import type { KubeObject } from './object.js';

/** Custom resources that were sent as another kind, where nobody looks at that: whose fields those are is unknown. */
const others = new WeakSet<KubeObject>();

export const noteOtherKind = (object: KubeObject): void => void others.add(object);

export const namedOtherKind = (object: KubeObject): boolean => others.has(object);

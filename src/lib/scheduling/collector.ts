// V8's collector, for whoever has a reason to call it.
import v8 from 'node:v8';
import vm from 'node:vm';

/** Collects everything, or the young objects alone, before it returns. */
export type Collector = (options?: { readonly type: 'minor' }) => void;

export function exposedCollector(): Collector {
  v8.setFlagsFromString('--expose-gc');
  const collector = vm.runInNewContext('gc') as Collector;
  // Compiled code that is kept for the next start is good for the flags of this one only.
  v8.setFlagsFromString('--no-expose-gc');
  return collector;
}

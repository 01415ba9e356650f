import type { AdmissionAttributes, AdmissionChain, AdmissionPlugin, Operation } from './plugin.js';

export type StepType = 'admit' | 'validate';

export interface ChainObserver {
  /** How long one plugin took, in seconds, and whether it refused. */
  observe(plugin: string, type: StepType, operation: Operation, rejected: boolean, seconds: number): void;
  /** The same of all plugins together. */
  observeStep(type: StepType, operation: Operation, rejected: boolean, seconds: number): void;
}

/** Runs the plugins in the order given. */
export function createChain(plugins: readonly AdmissionPlugin[], observer?: ChainObserver): AdmissionChain {
  const handling = (type: StepType): Record<Operation, readonly AdmissionPlugin[]> => {
    const of = (operation: Operation): readonly AdmissionPlugin[] =>
      plugins.filter((plugin) => plugin[type] !== undefined && plugin.handles(operation));
    return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') };
  };
  const admitting = handling('admit');
  const validating = handling('validate');

  // hot: runs on every write. One look at the clock between two plugins ends the one and begins the other.
  async function run(type: StepType, list: readonly AdmissionPlugin[], attributes: AdmissionAttributes): Promise<void> {
    const { operation } = attributes;
    const startedMs = observer === undefined ? 0 : performance.now();
    let lastMs = startedMs;
    let current = '';
    let rejected = true;
    const observe = (): void => {
      if (observer === undefined || current === '') return;
      const nowMs = performance.now();
      observer.observe(current, type, operation, rejected, (nowMs - lastMs) / 1000);
      lastMs = nowMs;
    };
    try {
      for (const plugin of list) {
        rejected = true;
        current = plugin.name;
        const done = plugin[type]?.(attributes);
        if (done !== undefined) await done;
        rejected = false;
        observe();
      }
      rejected = false;
    } catch (error) {
      observe();
      throw error;
    } finally {
      observer?.observeStep(type, operation, rejected, (lastMs - startedMs) / 1000);
    }
  }

  return {
    admit: (attributes) => run('admit', admitting[attributes.operation], attributes),
    validate: (attributes) => run('validate', validating[attributes.operation], attributes),
  };
}

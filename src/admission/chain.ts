import type { AdmissionAttributes, AdmissionChain, AdmissionPlugin, Operation } from './plugin.js';

export interface ChainObserver {
  /** How long one plugin took, in seconds, and whether it refused. */
  observe(plugin: string, type: 'admit' | 'validate', operation: Operation, rejected: boolean, seconds: number): void;
}

/** Runs the plugins in the order given. */
export function createChain(plugins: readonly AdmissionPlugin[], observer?: ChainObserver): AdmissionChain {
  const handling = (type: 'admit' | 'validate'): Record<Operation, readonly AdmissionPlugin[]> => {
    const of = (operation: Operation): readonly AdmissionPlugin[] =>
      plugins.filter((plugin) => plugin[type] !== undefined && plugin.handles(operation));
    return { CREATE: of('CREATE'), UPDATE: of('UPDATE'), DELETE: of('DELETE'), CONNECT: of('CONNECT') };
  };
  const admitting = handling('admit');
  const validating = handling('validate');

  // hot: runs on every write.
  async function run(
    type: 'admit' | 'validate',
    list: readonly AdmissionPlugin[],
    attributes: AdmissionAttributes,
  ): Promise<void> {
    for (const plugin of list) {
      const startedMs = observer === undefined ? 0 : performance.now();
      let rejected = true;
      try {
        const done = plugin[type]?.(attributes);
        if (done !== undefined) await done;
        rejected = false;
      } finally {
        observer?.observe(plugin.name, type, attributes.operation, rejected, (performance.now() - startedMs) / 1000);
      }
    }
  }

  return {
    admit: (attributes) => run('admit', admitting[attributes.operation], attributes),
    validate: (attributes) => run('validate', validating[attributes.operation], attributes),
  };
}

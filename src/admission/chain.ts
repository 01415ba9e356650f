import type { AdmissionAttributes, AdmissionChain, AdmissionPlugin, Operation } from './plugin.js';

export type StepType = 'admit' | 'validate';

/** Told whether something ended in a refusal, and how long it took. */
export type Observe = (rejected: boolean, seconds: number) => void;

/** Asked once for each plugin, step and operation, so that observing on the way is cheap. */
export interface ChainObserver {
  plugin(name: string, type: StepType, operation: Operation): Observe;
  /** All plugins of a step together. */
  step(type: StepType, operation: Operation): Observe;
}

/** Runs the plugins in the order given. */
export function createChain(plugins: readonly AdmissionPlugin[], observer?: ChainObserver): AdmissionChain {
  const steps = (type: StepType): Record<Operation, Step> => ({
    CREATE: stepOf(plugins, type, 'CREATE', observer),
    UPDATE: stepOf(plugins, type, 'UPDATE', observer),
    DELETE: stepOf(plugins, type, 'DELETE', observer),
    CONNECT: stepOf(plugins, type, 'CONNECT', observer),
  });
  const admitting = steps('admit');
  const validating = steps('validate');
  return {
    admit: (attributes) => run(admitting[attributes.operation], attributes),
    validate: (attributes) => run(validating[attributes.operation], attributes),
  };
}

interface Step {
  readonly plugins: readonly {
    readonly work: (attributes: AdmissionAttributes) => Promise<void> | void;
    readonly observe?: Observe | undefined;
  }[];
  readonly observe?: Observe | undefined;
}

function stepOf(
  plugins: readonly AdmissionPlugin[],
  type: StepType,
  operation: Operation,
  observer: ChainObserver | undefined,
): Step {
  return {
    plugins: plugins.flatMap((plugin) => {
      const work = plugin[type]?.bind(plugin);
      if (work === undefined || !plugin.handles(operation)) return [];
      return [{ work, observe: observer?.plugin(plugin.name, type, operation) }];
    }),
    observe: observer?.step(type, operation),
  };
}

// hot: runs on every write. One look at the clock between two plugins ends the one and begins the other.
async function run({ plugins, observe }: Step, attributes: AdmissionAttributes): Promise<void> {
  const startedMs = performance.now();
  let lastMs = startedMs;
  for (const plugin of plugins) {
    let rejected = true;
    try {
      const done = plugin.work(attributes);
      if (done !== undefined) await done;
      rejected = false;
    } finally {
      const nowMs = performance.now();
      plugin.observe?.(rejected, (nowMs - lastMs) / 1000);
      if (rejected) observe?.(true, (nowMs - startedMs) / 1000);
      lastMs = nowMs;
    }
  }
  observe?.(false, (lastMs - startedMs) / 1000);
}

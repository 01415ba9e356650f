import { type MaybePromise, whenReady } from '../lib/async/maybe-promise.js';
import type { GroupVersionResource } from '../machinery/object.js';
import type {
  AdmissionAttributes,
  AdmissionChain,
  AdmissionPlugin,
  AdmissionWork,
  LooksAt,
  Operation,
  Round,
} from './plugin.js';
import { Rounds } from './rounds.js';

export type StepType = 'admit' | 'validate';

/** Observes whether a plugin or step ended in a refusal, and how long it took. */
export type Observe = (rejected: boolean, seconds: number) => void;

/** Called once for each plugin, step and operation, so that observing a request is cheap. */
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
    admit: (attributes) => admit(admitting[attributes.operation], attributes),
    validate: (attributes) => run(validating[attributes.operation], attributes, new Rounds()),
  };
}

function admit(step: Step, attributes: AdmissionAttributes): MaybePromise<void> {
  const rounds = new Rounds();
  return whenReady(run(step, attributes, rounds), () => (rounds.next() ? run(step, attributes, rounds) : undefined));
}

interface StepPlugin {
  readonly work: AdmissionWork;
  readonly only: LooksAt | undefined;
  readonly observe: Observe | undefined;
}

interface Step {
  readonly plugins: readonly StepPlugin[];
  readonly observe: Observe | undefined;
  /** By resource and subresource. */
  readonly involved: WeakMap<GroupVersionResource, Map<string, Involved>>;
}

/** The plugins that look at writes to one (sub)resource, and the others, which are done with them in no time. */
interface Involved {
  readonly plugins: readonly StepPlugin[];
  readonly others: readonly StepPlugin[];
}

function stepOf(
  plugins: readonly AdmissionPlugin[],
  type: StepType,
  operation: Operation,
  observer: ChainObserver | undefined,
): Step {
  return {
    plugins: plugins.flatMap((plugin) => {
      const work = plugin[type];
      if (work === undefined || !plugin.handles(operation)) return [];
      const observe = observer?.plugin(plugin.name, type, operation);
      return [{ work: work.bind(plugin), only: work.only, observe }];
    }),
    observe: observer?.step(type, operation),
    involved: new WeakMap(),
  };
}

// hot: runs on every write. Goes on at once for as long as plugins have nothing to wait for.
function run(step: Step, attributes: AdmissionAttributes, round: Round): MaybePromise<void> {
  const involved = involvedIn(step, attributes);
  for (const { observe } of involved.others) observe?.(false, 0);
  const startedMs = performance.now();
  return runFrom({ step, plugins: involved.plugins, attributes, round, startedMs }, 0, startedMs);
}

function involvedIn({ plugins, involved }: Step, { resource, subresource }: AdmissionAttributes): Involved {
  let known = involved.get(resource);
  if (known === undefined) involved.set(resource, (known = new Map()));
  let found = known.get(subresource);
  if (found === undefined) {
    const looks = ({ only }: StepPlugin): boolean => only?.(resource, subresource) ?? true;
    found = { plugins: plugins.filter(looks), others: plugins.filter((plugin) => !looks(plugin)) };
    known.set(subresource, found);
  }
  return found;
}

/** One request on its way through the plugins of a step. */
interface Run {
  readonly step: Step;
  /** Those that look at the request. */
  readonly plugins: readonly StepPlugin[];
  readonly attributes: AdmissionAttributes;
  readonly round: Round;
  /** When the first of them began. */
  readonly startedMs: number;
}

/** One look at the clock between two plugins ends the one and begins the other. */
function runFrom(all: Run, first: number, beganMs: number): MaybePromise<void> {
  const { step, plugins, attributes, round, startedMs } = all;
  let lastMs = beganMs;
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index] as StepPlugin;
    let waiting: MaybePromise<void>;
    try {
      waiting = plugin.work(attributes, round);
    } catch (error) {
      refused(step, plugin, startedMs, lastMs);
      throw error;
    }
    if (waiting !== undefined) {
      return waiting.then(
        () => runFrom(all, index + 1, passed(plugin, lastMs)),
        (error: unknown) => {
          refused(step, plugin, startedMs, lastMs);
          throw error;
        },
      );
    }
    lastMs = passed(plugin, lastMs);
  }
  step.observe?.(false, (lastMs - startedMs) / 1000);
}

/** Answers when. */
function passed({ observe }: StepPlugin, beganMs: number): number {
  const nowMs = performance.now();
  observe?.(false, (nowMs - beganMs) / 1000);
  return nowMs;
}

function refused(step: Step, { observe }: StepPlugin, startedMs: number, beganMs: number): void {
  const nowMs = performance.now();
  observe?.(true, (nowMs - beganMs) / 1000);
  step.observe?.(true, (nowMs - startedMs) / 1000);
}

// Where the rules of an object are run: those of a large one in another thread, those of a small one here. Of some kinds
// nobody knows how long they take: theirs are begun here, where nearly all are done at once, and begun anew in the other
// thread when they are not.
import { Interrupted } from '../cel/interrupted.js';
import type { Aside } from '../lib/aside.js';
import type { MaybePromise } from '../lib/maybe-promise.js';
import { atOnce, inTurns, LARGE_BYTES, nextTurn } from '../lib/turns.js';
import type { KubeObject } from '../machinery/object.js';
import { keepUnchangedTimes } from '../schema/apply/field-manager.js';
import type { StoredObject } from '../storage/store.js';
import type { LifeContext } from './kind.js';
import { type ChangeContext, prepareChanged, prepareNew } from './prepare.js';
import { prepareChangedAside, prepareNewAside } from './prepare-aside.js';
import { asideFor, type ResourceRegistry } from './registry.js';

/** How long rules may take here. */
const PATIENCE_MS = 15;

/** Answers what is to be stored, as far as it is known. */
export function prepareNewPatiently(
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
  bytes: number,
): MaybePromise<Buffer | undefined> {
  const aside = asideForRules(registry, bytes);
  if (aside !== undefined) return prepareNewAside(aside, registry, object, context);
  const here = (patient: LifeContext): undefined => prepareNew(registry, object, patient) as undefined;
  return begunHere(registry, context, here, (there) => prepareNewAside(there, registry, object, context));
}

/** The same of a change; the times of what has not changed are kept. */
export function prepareChangedPatiently(
  registry: ResourceRegistry,
  request: ChangeContext,
  object: KubeObject,
  {
    current,
    old,
    bytes,
  }: { readonly current: StoredObject; readonly old: Readonly<KubeObject>; readonly bytes: number },
): MaybePromise<Buffer | undefined> {
  const aside = asideForRules(registry, bytes);
  if (aside !== undefined) return prepareChangedAside(aside, registry, request, object, current);
  const { endpoint, context } = request;
  const here = (patient: LifeContext): MaybePromise<undefined> => {
    prepareChanged(registry, { endpoint, context: patient }, object, old);
    if (bytes > LARGE_BYTES)
      return nextTurn().then(() => inTurns(keepUnchangedTimes(object, old)) as Promise<undefined>);
    atOnce(keepUnchangedTimes(object, old));
    return undefined;
  };
  return begunHere(registry, context, here, (there) => prepareChangedAside(there, registry, request, object, current));
}

const asideForRules = (registry: ResourceRegistry, bytes: number): Aside | undefined =>
  asideFor(registry, bytes * (registry.kind.strategy.rulesWeight ?? 1));

// hot: most kinds' rules are known to be done at once.
function begunHere(
  { kind, aside }: ResourceRegistry,
  context: LifeContext,
  here: (patient: LifeContext) => MaybePromise<undefined>,
  there: (aside: Aside) => Promise<Buffer | undefined>,
): MaybePromise<Buffer | undefined> {
  if (kind.strategy.rulesMayTakeLong !== true || aside === undefined) return here(context);
  const untilMs = performance.now() + PATIENCE_MS;
  const warnings: string[] = [];
  try {
    const done = here({
      ...context,
      interrupted: () => performance.now() > untilMs,
      warn: (text) => warnings.push(text),
    });
    for (const text of warnings) context.warn(text);
    return done;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    return there(aside);
  }
}

// The rules that a large object passes before it is stored, run in another thread: this side sends the object and takes
// what was changed, the other has the same kinds.
import { type Aside, asideOr, type Knowledge, NotAside, task } from '../lib/aside.js';
import type { KubeObject } from '../machinery/object.js';
import type { UserInfo } from '../machinery/user.js';
import type { StoredObject } from '../storage/store.js';
import { carried, carryInTurns, storedObject } from './carried-object.js';
import type { KindDefinition, LifeContext, Lookup } from './kind.js';
import { type MemberChanges, memberChanges, takeChanges } from './member-changes.js';
import { type ChangeContext, prepareChanged, prepareNew } from './prepare.js';
import { refusalOf, type Refused, refusedBy } from './refused-aside.js';
import type { ResourceRegistry } from './registry.js';

/** A kind as another thread finds it. */
export interface KindRef {
  readonly group: string;
  readonly plural: string;
  /** Of a custom kind: what it is made from, and the version whose rules are meant. */
  readonly custom?: { readonly id: string; readonly version: string };
}

interface Preparation {
  readonly kind: KindRef;
  /** In the storage version. */
  readonly object: Uint8Array;
  /** Of an update: what is stored, and the endpoint that is written through. */
  readonly old?: Uint8Array;
  readonly endpoint?: string;
  readonly context: PlainContext;
}

/** What of a LifeContext goes over. */
interface PlainContext {
  readonly user: UserInfo;
  readonly namespace: string;
  readonly dryRun: boolean;
  readonly nowMs: number;
}

interface Prepared {
  readonly warnings: readonly string[];
  readonly refused?: Refused;
  readonly changes?: MemberChanges;
}

export const PREPARE = task<Preparation, Prepared>('prepare');

/** As prepareNew(). */
export function prepareNewAside(
  aside: Aside,
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
): Promise<void> {
  return asideOr(prepareThere(aside, registry, object, context, {}), () => prepareNew(registry, object, context));
}

/** As prepareChanged(). */
export function prepareChangedAside(
  aside: Aside,
  registry: ResourceRegistry,
  { endpoint, context }: ChangeContext,
  object: KubeObject,
  current: StoredObject,
): Promise<void> {
  return asideOr(prepareThere(aside, registry, object, context, { old: current.json, endpoint }), () =>
    prepareChanged(registry, { endpoint, context }, object, current.object()),
  );
}

async function prepareThere(
  aside: Aside,
  registry: ResourceRegistry,
  object: KubeObject,
  context: LifeContext,
  change: Pick<Preparation, 'old' | 'endpoint'>,
): Promise<void> {
  const { user, namespace, dryRun, deadlineMs } = context;
  const { kind } = registry;
  const work: Preparation = {
    kind: refOf(kind),
    object: await carryInTurns(object),
    ...change,
    context: { user, namespace, dryRun, nowMs: context.now().getTime() },
  };
  const { warnings, refused, changes } = await aside.do(PREPARE, work, { needs: neededBy(kind), deadlineMs });
  for (const text of warnings) context.warn(text);
  if (refused !== undefined) throw refusalOf(refused);
  if (changes !== undefined) await takeChanges(kind, object, changes);
}

export const refOf = ({ group, plural, origin }: KindDefinition): KindRef => ({
  group,
  plural,
  ...(origin && { custom: { id: origin.knowledge.id, version: origin.version } }),
});

export const neededBy = ({ origin }: KindDefinition): Knowledge | undefined => origin?.knowledge;

/** The other side. */
export function prepareHere(
  registry: ResourceRegistry,
  { object: sent, old, endpoint = '', context: plain }: Preparation,
  settings: Pick<LifeContext, 'features' | 'options'>,
): Prepared {
  const object = carried(registry.kind, sent);
  const changes = memberChanges(object);
  const warnings: string[] = [];
  const { user, namespace, dryRun, nowMs } = plain;
  const context: LifeContext = {
    ...settings,
    user,
    namespace,
    dryRun,
    now: () => new Date(nowMs),
    lookup: NO_LOOKUP,
    warn: (text) => warnings.push(text),
  };
  try {
    if (old === undefined) prepareNew(registry, object, context);
    else prepareChanged(registry, { endpoint, context }, object, storedObject(registry.store, old));
  } catch (error) {
    return { warnings, refused: refusedBy(error) };
  }
  return { warnings, changes: changes() };
}

const onlyThere = (): never => {
  throw new NotAside('other objects are looked up where they are');
};

const NO_LOOKUP: Lookup = { get: onlyThere, list: onlyThere };

// What a worker made of an object, as changed members of it and of its metadata: most of a large object stays as
// it was, and who sent it need not read it again.
import { setMember } from '../lib/values/plain-object.js';
import type { JsonObject, KubeObject } from '../machinery/object.js';
import { decodeTransferredCooperatively, encodeForTransfer } from './transferred-object.js';
import type { KindDefinition } from './kind.js';

export interface MemberChanges {
  /** An object with the changed members. */
  readonly object: Uint8Array;
  readonly members: readonly string[];
  readonly metadata: readonly string[];
  readonly removed: readonly string[];
  readonly removedMetadata: readonly string[];
}

/** Called before the work begins. */
export function memberChanges(object: KubeObject): () => MemberChanges {
  const membersBefore = encoded(membersOf(object));
  const metadataBefore = encoded(object.metadata as JsonObject);
  return () => {
    const members = changesOf(membersBefore, membersOf(object));
    const metadata = changesOf(metadataBefore, object.metadata as JsonObject);
    return {
      object: encodeForTransfer({ ...members.changed, metadata: metadata.changed }),
      members: Object.keys(members.changed),
      metadata: Object.keys(metadata.changed),
      removed: members.removed,
      removedMetadata: metadata.removed,
    };
  };
}

/** Applies the changes to the object that was sent. */
export async function applyChanges(kind: KindDefinition, object: KubeObject, changes: MemberChanges): Promise<void> {
  const from = await decodeTransferredCooperatively(kind, changes.object);
  assign(object as KubeObject & JsonObject, from as KubeObject & JsonObject, changes.members, changes.removed);
  const metadata = object.metadata as JsonObject;
  assign(metadata, from.metadata as JsonObject, changes.metadata, changes.removedMetadata);
}

function assign(to: JsonObject, from: JsonObject, changed: readonly string[], removed: readonly string[]): void {
  for (const name of changed) setMember(to, name, from[name]);
  for (const name of removed) delete to[name];
}

/** The metadata is looked at by itself. */
function membersOf(object: KubeObject): JsonObject {
  const { metadata: _metadata, ...members } = object;
  return members;
}

const encoded = (members: JsonObject): Map<string, Buffer> =>
  new Map(
    Object.entries(members).flatMap(([name, value]) => (value === undefined ? [] : [[name, encodedBytes(value)]])),
  );

const encodedBytes = (value: unknown): Buffer => Buffer.from(encodeForTransfer([value]));

function changesOf(
  before: ReadonlyMap<string, Buffer>,
  members: JsonObject,
): { changed: JsonObject; removed: string[] } {
  const after = Object.entries(members).filter(([, value]) => value !== undefined);
  const changed = after.filter(([name, value]) => before.get(name)?.equals(encodedBytes(value)) !== true);
  const there = new Set(after.map(([name]) => name));
  return { changed: Object.fromEntries(changed), removed: [...before.keys()].filter((name) => !there.has(name)) };
}

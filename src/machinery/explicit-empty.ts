// An empty list or map is the same as none nearly everywhere. But errors that contain a value show `[]` or `{}` where a
// client sent one and `null` where it sent nothing, a few rules refuse whatever was sent, and for a few kinds it is a
// change. So it is with a time that is none, where one may be left out. The normal form drops both; this keeps the
// difference for as long as the decoded object lives.

/** Each with the empty list or map it was. */
export type EmptyMembers = Readonly<Record<string, object>>;

const emptyMembers = new WeakMap<object, EmptyMembers>();

export function noteExplicitEmpty(object: object, members: EmptyMembers): void {
  emptyMembers.set(object, members);
}

export const explicitEmptyOf = (object: object): EmptyMembers | undefined => emptyMembers.get(object);

export function wasExplicitEmpty(object: object, member: string): boolean {
  const members = emptyMembers.get(object);
  return members !== undefined && Object.hasOwn(members, member);
}

/** One was sent for some member of the value, at any depth, and has not been filled in since. */
export function holdsExplicitEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const noted = Object.keys(emptyMembers.get(value) ?? {});
  if (noted.some((member) => (value as Record<string, unknown>)[member] === undefined)) return true;
  return Object.values(value).some(holdsExplicitEmpty);
}

/** A member's value for an error: what it is, or the empty list or map that was sent for it. */
export function asGiven(object: object, member: string, empty: object): unknown {
  const value = (object as Record<string, unknown>)[member];
  return (value ?? undefined) === undefined && wasExplicitEmpty(object, member) ? empty : value;
}

/** For code that copies an object before it is encoded. */
export function withExplicitEmptyOf<T extends object>(from: object, copy: T): T {
  const members = emptyMembers.get(from);
  if (members !== undefined) emptyMembers.set(copy, members);
  return copy;
}

/** For members that kube-apiserver builds anew, so that what was sent no longer shows. */
export function forgetExplicitEmpty(object: object, member: string): void {
  if (!wasExplicitEmpty(object, member)) return;
  const { [member]: _forgotten, ...others } = emptyMembers.get(object) ?? {};
  emptyMembers.set(object, others);
}

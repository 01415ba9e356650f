// An empty list or map is the same as none everywhere but in one place: errors that print a value show `[]` or `{}`
// where a client sent one and `null` where it sent nothing. The normal form drops both; this remembers the difference
// for as long as the decoded object lives.

const emptyMembers = new WeakMap<object, readonly string[]>();

export function noteGivenEmpty(object: object, members: readonly string[]): void {
  emptyMembers.set(object, members);
}

export const wasGivenEmpty = (object: object, member: string): boolean =>
  emptyMembers.get(object)?.includes(member) ?? false;

/** A member's value for an error: what it is, or the empty list or map that was sent for it. */
export function asGiven(object: object, member: string, empty: object): unknown {
  const value = (object as Record<string, unknown>)[member];
  return (value ?? undefined) === undefined && wasGivenEmpty(object, member) ? empty : value;
}

/** For code that copies an object before it is printed. */
export function withGivenEmptyOf<T extends object>(from: object, copy: T): T {
  const members = emptyMembers.get(from);
  if (members !== undefined) emptyMembers.set(copy, members);
  return copy;
}

/** For members that the reference builds anew, so that what was sent no longer shows. */
export function forgetGivenEmpty(object: object, member: string): void {
  const members = emptyMembers.get(object);
  if (members?.includes(member))
    emptyMembers.set(
      object,
      members.filter((other) => other !== member),
    );
}

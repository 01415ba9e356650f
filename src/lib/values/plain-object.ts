// Plain objects as bags of members.

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Sets a member whatever its name: assigning to `__proto__` would change the object's prototype instead. */
export function setMember(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[key] = value;
  }
}

/** Of maps whose keys people choose: `constructor` and the like are there by inheritance, and are not theirs. */
export const ownMember = <T>(map: Readonly<Record<string, T>> | null | undefined, key: string): T | undefined =>
  map != null && Object.hasOwn(map, key) ? map[key] : undefined;

// Members of what others wrote, found as kube-apiserver's reader of JSON finds them: by a name in any case. Of several
// the last counts.
export function foldedMember(object: Readonly<Record<string, unknown>>, name: string): unknown {
  let found: unknown;
  for (const key of Object.keys(object)) {
    if (key === name || (key.length === name.length && fold(key) === name)) found = object[key];
  }
  return found;
}

/** Signs that have no small letter of their own (`\u017f`, `\u212a`) have one by way of their large one. */
const fold = (text: string): string => text.toUpperCase().toLowerCase();

import type { KubeObject, OwnerReference } from '../../machinery/object.js';

/** Drops owner references that stand twice, and says so. */
export function dedupOwnerReferences(object: KubeObject, warn: (text: string) => void, afterAdmission: boolean): void {
  const references = object.metadata.ownerReferences;
  if (references === undefined || references.length < 2) return;
  const kept: OwnerReference[] = [];
  const duplicates: string[] = [];
  const seen = new Set<string>();
  for (const reference of references) {
    const text = JSON.stringify([
      reference.apiVersion,
      reference.kind,
      reference.name,
      reference.uid,
      reference.controller,
      reference.blockOwnerDeletion,
    ]);
    if (seen.has(text)) duplicates.push(reference.uid);
    else kept.push(reference);
    seen.add(text);
  }
  if (duplicates.length === 0) return;
  const uids = duplicates.join(', ');
  warn(
    afterAdmission
      ? `.metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`
      : `.metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids}`,
  );
  object.metadata.ownerReferences = kept;
}

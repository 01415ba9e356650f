// The Status for an applier when others own what it wants to set.
import { goQuote } from '../../lib/go/quote.js';
import { applyConflict, type StatusError } from '../../machinery/status.js';
import { identityOf, type Manager } from './managers.js';
import { compareText } from '../../lib/text/compare-text.js';
import { pathText } from './path-element.js';
import type { Conflict } from './updater.js';

export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) => compareText(identityOf(a.manager), identityOf(b.manager)));
  const causes = sorted.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${managerText(manager)}`,
    field: pathText(path),
  }));
  return applyConflict(message(sorted), causes);
}

function message(conflicts: readonly Conflict[]): string {
  const [first] = conflicts;
  if (conflicts.length === 1 && first !== undefined) {
    return `Apply failed with 1 conflict: conflict with ${managerText(first.manager)}: ${pathText(first.path)}`;
  }
  const lines: string[] = [];
  let current = '';
  for (const { manager, path } of conflicts) {
    const identity = identityOf(manager);
    if (identity !== current) lines.push(`conflicts with ${managerText(manager)}:`);
    current = identity;
    lines.push(`- ${pathText(path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}

function managerText({ manager, operation, subresource, apiVersion }: Manager): string {
  let text = goQuote(manager);
  if (subresource !== '') text += ` with subresource ${goQuote(subresource)}`;
  return operation === 'Update' ? `${text} using ${apiVersion}` : text;
}

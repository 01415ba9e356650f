// Validating webhooks: all that are for a request are asked at once, and the first refusal is told.
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from '../matching/match.js';
import { SeenRequest, type ServedResources } from '../matching/seen-request.js';
import { callHook, type CallParts } from './call-hook.js';
import type { Hook } from './hook-index.js';
import { matchHook, type MatchParts } from './match-hook.js';
import { type OutcomeParts, settleCall } from './outcome.js';

export interface HookParts extends MatchParts, CallParts, OutcomeParts {
  readonly served: ServedResources;
}

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_';

// hot: most hooks are for few resources, which is told without waiting.
export function validateByHooks(
  parts: HookParts,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
): Promise<void> | undefined {
  const request = new SeenRequest(attributes, parts.served);
  const matches = hooks.map((hook) => ({ hook, matched: matchHook(parts, 'validating', hook, request) }));
  return matches.every(({ matched }) => matched === undefined) ? undefined : callAll(parts, matches, request);
}

interface Concerned {
  readonly hook: Hook;
  readonly matched: ReturnType<typeof matchHook>;
}

async function callAll(parts: HookParts, matches: readonly Concerned[], request: SeenRequest): Promise<void> {
  // Whether a hook is asked at all is found out for each before any is.
  const settled = await Promise.allSettled(matches.map(({ matched }) => Promise.resolve(matched)));
  const concerned: { hook: Hook; matched: ResourceMatch }[] = [];
  for (const [index, found] of settled.entries()) {
    if (found.status === 'rejected') throw found.reason;
    const hook = matches[index]?.hook;
    if (found.value !== undefined && hook !== undefined) concerned.push({ hook, matched: found.value });
  }
  const refusals: unknown[] = [];
  await Promise.all(
    concerned.map(({ hook, matched }, index) =>
      settleCall(
        parts,
        'validating',
        hook,
        request.attributes,
        () => callHook(parts, hook, request, matched),
        () => request.attributes.annotate(`${FAILED_OPEN}${index}`, hook.name),
      ).catch((error: unknown) => void refusals.push(error)),
    ),
  );
  if (refusals.length > 0) throw refusals[0];
}

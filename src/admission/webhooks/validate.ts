// Validating webhooks: all that match a request are called at once, and the first refusal is returned.
import type { AdmissionAttributes } from '../plugin.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import { SeenRequest, type ServedResources } from '../matching/seen-request.js';
import { callHook, type CallParts } from './call-hook.js';
import type { Hook } from './hook-index.js';
import { demandConverted, matchHook, type MatchParts } from './match-hook.js';
import { type OutcomeParts, settleCall } from './outcome.js';

export interface HookParts extends MatchParts, CallParts, OutcomeParts {
  readonly served: ServedResources;
}

const FAILED_OPEN = 'failed-open.validating.webhook.admission.k8s.io/round_0_index_';

// hot: most hooks are for few resources, which is known without waiting.
export function validateByHooks(
  parts: HookParts,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
): Promise<void> | undefined {
  const request = new SeenRequest(attributes, parts.served);
  for (const [index, hook] of hooks.entries()) {
    const matched = matchHook(parts, 'validating', hook, request);
    if (matched !== undefined) return callAll(parts, { hooks, first: index, firstMatch: matched, request });
  }
  return undefined;
}

interface RemainingCalls {
  readonly hooks: readonly Hook[];
  readonly first: number;
  readonly firstMatch: ReturnType<typeof matchHook>;
  readonly request: SeenRequest;
}

async function callAll(parts: HookParts, { hooks, first, firstMatch, request }: RemainingCalls): Promise<void> {
  // All hooks are matched before any is called; a hook whose match fails ends the request.
  const concerned: { hook: Hook; matched: ResourceMatch }[] = [];
  for (let index = first; index < hooks.length; index++) {
    const hook = hooks[index] as Hook;
    const matched = await (index === first ? firstMatch : matchHook(parts, 'validating', hook, request));
    if (matched === undefined) continue;
    demandConverted('validating', request, matched);
    concerned.push({ hook, matched });
  }
  const refusals: unknown[] = [];
  await Promise.all(
    concerned.map(({ hook, matched }, index) =>
      settleCall(parts, {
        type: 'validating',
        hook,
        attributes: request.attributes,
        work: () => callHook(parts, { hook, request, matched }),
        failedOpen: () => request.attributes.annotate(`${FAILED_OPEN}${index}`, hook.name),
      }).catch((error: unknown) => void refusals.push(error)),
    ),
  );
  if (refusals.length > 0) throw refusals[0];
}

// Mutating webhooks: called one after the other, each with the object that the one before it left.
import { StatusError } from '../../machinery/status.js';
import type { AdmissionAttributes, Round } from '../plugin.js';
import type { ResourceMatch } from '../matching/resource-match.js';
import { SeenRequest } from '../matching/seen-request.js';
import { applyHookPatch } from './apply-patch.js';
import { type ApplyPatch, callHook } from './call-hook.js';
import type { Hook } from './hook-index.js';
import { demandConverted, matchHook } from './match-hook.js';
import { settleCall } from './outcome.js';
import { hasPreciseTimes } from './precise-times.js';
import { Reinvocation } from '../reinvocation.js';
import type { ParsedPatch } from './parsed-patch.js';
import type { HookParts } from './validate.js';

const PLUGIN = 'MutatingAdmissionWebhook';
const MUTATION = 'mutation.webhook.admission.k8s.io/';

// hot: most hooks are for few resources, which is known without waiting.
export function mutateByHooks(
  parts: HookParts,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
  round: Round,
): Promise<void> | undefined {
  const request = new SeenRequest(attributes, parts.served);
  for (const [index, hook] of hooks.entries()) {
    const matched = matchHook(parts, 'admit', hook, request);
    if (matched !== undefined) return new Mutation(parts, round, request).run(hooks, index, matched);
  }
  return undefined;
}

/** What is kept of both rounds. */
class HookRounds extends Reinvocation {
  /** A patch was applied. */
  patched = false;
}

class Mutation {
  private readonly again: HookRounds;
  private readonly attributes: AdmissionAttributes;

  constructor(
    private readonly parts: HookParts,
    private readonly round: Round,
    /** The one that hooks are matched with: objects are converted for it then. */
    private request: SeenRequest,
  ) {
    this.again = round.notes(PLUGIN, () => new HookRounds());
    this.attributes = request.attributes;
  }

  async run(hooks: readonly Hook[], first: number, firstMatch: ReturnType<typeof matchHook>): Promise<void> {
    if (this.round.again && !(await this.again.isOutput(this.attributes.object))) this.again.changed();
    try {
      for (let index = first; index < hooks.length; index++) {
        const hook = hooks[index] as Hook;
        const matched = await (index === first ? firstMatch : matchHook(this.parts, 'admit', hook, this.request));
        // A hook that was skipped is not called for the first time in the second round.
        if (matched === undefined || (this.round.again && !this.again.isDue(hook.id))) continue;
        demandConverted('admit', this.request, matched);
        await this.ask(hook, index, matched);
      }
    } finally {
      await this.again.keepOutput(this.attributes.object);
    }
  }

  private async ask(hook: Hook, index: number, matched: ResourceMatch): Promise<void> {
    const { parts, attributes } = this;
    const place = `round_${this.round.again ? 1 : 0}_index_${index}`;
    let patched = false;
    let changed = false;
    let unfit: StatusError | undefined;
    try {
      const apply: ApplyPatch = async (patch) => {
        try {
          const precise = !this.again.patched && (await hasPreciseTimes(attributes));
          this.again.patched = true;
          changed =
            (await applyHookPatch({ served: parts.served, hook, request: this.request, matched, patch })) || precise;
          patched = true;
          attributes.annotate(`patch.webhook.admission.k8s.io/${place}`, patchNote(hook, patch), 'Request');
        } catch (error) {
          // That it became another kind is found when all is brought together: no hook is to blame for that.
          if (!(error instanceof StatusError) || error.reason !== '') throw error;
          unfit = error;
        }
        return patched;
      };
      await settleCall(parts, {
        type: 'admit',
        hook,
        attributes,
        work: () => callHook(parts, { hook, request: this.request, matched, apply }),
        failedOpen: () => attributes.annotate(`failed-open.${MUTATION}${place}`, hook.name),
      });
    } finally {
      const { configuration, name: webhook } = hook;
      attributes.annotate(`${MUTATION}${place}`, JSON.stringify({ configuration, webhook, mutated: changed }));
    }
    if (unfit !== undefined) throw unfit;
    if (changed) {
      this.again.changed();
      this.round.requestReinvocation();
      // What was seen of the object before is not it any more.
      this.request = new SeenRequest(attributes, parts.served);
    }
    if (hook.spec.reinvocationPolicy === 'IfNeeded') this.again.applied(hook.id);
  }
}

/** What the audit log says of a patch. */
function patchNote({ configuration, name }: Hook, patch: ParsedPatch): string {
  const head = JSON.stringify({ configuration, webhook: name });
  return `${head.slice(0, -1)},"patch":${patch.text()},"patchType":"JSONPatch"}`;
}

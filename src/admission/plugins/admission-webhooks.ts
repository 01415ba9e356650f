import { groupResourceText } from '../../machinery/status.js';
import { forbid } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin, AdmissionWork, Round } from '../plugin.js';
import type { HookSource } from '../webhooks/hook-informers.js';
import type { Hook } from '../webhooks/hook-index.js';
import { mutateByHooks } from '../webhooks/mutate.js';
import { type HookParts, validateByHooks } from '../webhooks/validate.js';

/** Webhooks could lock everyone out of mending them. */
const EXEMPT: ReadonlySet<string> = new Set(
  [
    'validatingwebhookconfigurations',
    'mutatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
    'mutatingadmissionpolicies',
    'mutatingadmissionpolicybindings',
  ].map((resource) => groupResourceText({ group: 'admissionregistration.k8s.io', resource })),
);

export interface HookPluginParts {
  readonly source: HookSource;
  /** Created for the first call of a hook. */
  readonly parts: () => HookParts;
}

type Dispatch = (
  parts: HookParts,
  hooks: readonly Hook[],
  attributes: AdmissionAttributes,
  round: Round,
) => Promise<void> | undefined;

/** Asks the webhooks that may change objects. */
export const mutatingAdmissionWebhook = (parts: HookPluginParts): AdmissionPlugin => ({
  name: 'MutatingAdmissionWebhook',
  handles: () => true,
  admit: workOf(parts, mutateByHooks),
});

/** Asks the webhooks that may only refuse. */
export const validatingAdmissionWebhook = (parts: HookPluginParts): AdmissionPlugin => ({
  name: 'ValidatingAdmissionWebhook',
  handles: () => true,
  validate: workOf(parts, validateByHooks),
});

// hot: runs on every write; most clusters have no webhooks for most resources.
function workOf({ source, parts }: HookPluginParts, dispatch: Dispatch): AdmissionWork {
  const ask: AdmissionWork = (attributes, round) =>
    EXEMPT.has(groupResourceText(attributes.resource)) ? undefined : dispatch(parts(), source.hooks, attributes, round);
  return (attributes, round) => {
    if (!source.ready) return whenKnown(source, attributes, round, ask);
    return source.hooks.length === 0 ? undefined : ask(attributes, round);
  };
}

async function whenKnown(
  source: HookSource,
  attributes: AdmissionAttributes,
  round: Round,
  ask: AdmissionWork,
): Promise<void> {
  if (EXEMPT.has(groupResourceText(attributes.resource))) return;
  if (!(await source.whenReady())) throw forbid(attributes, 'not yet ready to handle request');
  await ask(attributes, round);
}

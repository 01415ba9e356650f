// `--admission-control-config-file`: the settings of all plugins that have any, each inline or in a file of its own.
import path from 'node:path';
import type { EventLimit } from '../../admission/plugins/event-rate-limit.js';
import type { NodeSelectors } from '../../admission/plugins/pod-node-selector.js';
import type { TolerationLists } from '../../admission/plugins/pod-toleration-restriction.js';
import type { LimitedResource } from '../../admission/quota/limited.js';
import { readTextFile } from '../../lib/go/file-error.js';
import { goQuote } from '../../lib/go/quote.js';
import type { AdmissionConfiguration } from '../../schema/generated/apiserverconfig.v1.js';
import { encodeTree } from '../../schema/json/encode.js';
import { ConfigError } from '../config-error.js';
import { decodeConfig, isJsonText, UnknownKind } from '../decode-config.js';
import type { Kubeconfig } from '../kubeconfig.js';
import { serverKinds } from '../server-kinds.js';
import { eventLimits } from './event-limits.js';
import { imagePolicy, type ImagePolicyConfig } from './image-policy.js';
import { jsonSlice } from './json-slice.js';
import { limitedResources } from './limited-resources.js';
import { nodeSelectors } from './node-selectors.js';
import { podSecuritySettings, type PodSecuritySettings, Unfit } from './pod-security.js';
import { readTree } from './read-plugin.js';
import { tolerationLists } from './toleration-lists.js';
import { webhookKubeconfig } from './webhook-users.js';

export interface AdmissionSettings {
  readonly imagePolicy: ImagePolicyConfig | undefined;
  readonly podSecurity: PodSecuritySettings | undefined;
  readonly nodeSelectors: NodeSelectors;
  readonly tolerationLists: TolerationLists;
  readonly eventLimits: readonly EventLimit[];
  readonly mutatingHookUsers: Kubeconfig | undefined;
  readonly validatingHookUsers: Kubeconfig | undefined;
  readonly limitedResources: readonly LimitedResource[];
}

/** `file` is empty where there is none. Settings of plugins that are off are not looked at. Throws a ConfigError. */
export function loadAdmissionSettings(file: string, enabled: ReadonlySet<string>): AdmissionSettings {
  const texts = within('failed to read plugin config', () => pluginTexts(file));
  // In the order of the plugins: the first error is reported.
  return {
    imagePolicy: setting('ImagePolicyWebhook', imagePolicy),
    podSecurity: setting('PodSecurity', given(podSecuritySettings)),
    nodeSelectors: setting('PodNodeSelector', given(nodeSelectors)) ?? {},
    tolerationLists: setting('PodTolerationRestriction', given(tolerationLists)) ?? { default: [], whitelist: [] },
    eventLimits: setting('EventRateLimit', eventLimits) ?? [],
    mutatingHookUsers: setting('MutatingAdmissionWebhook', given(webhookKubeconfig)),
    validatingHookUsers: setting('ValidatingAdmissionWebhook', given(webhookKubeconfig)),
    limitedResources: setting('ResourceQuota', given(limitedResources)) ?? [],
  };

  function setting<T>(plugin: string, read: (text: string | undefined) => T): T | undefined {
    if (!enabled.has(plugin)) return undefined;
    return within(`couldn't init admission plugin ${goQuote(plugin)}`, () => read(texts(plugin)), plugin);
  }
}

const given =
  <T>(read: (text: string) => T) =>
  (text: string | undefined): T | undefined =>
    text === undefined ? undefined : read(text);

function within<T>(what: string, work: () => T, plugin = ''): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const when = error instanceof Unfit ? `failed to initialize admission plugin ${goQuote(plugin)}` : what;
    throw new ConfigError(`failed to apply admission: ${when}: ${error.message}`);
  }
}

/** Finds the text of a plugin's configuration. */
type PluginTexts = (plugin: string) => string | undefined;

const KINDS = {
  kinds: serverKinds('v1', 'v1alpha1'),
  scheme: 'k8s.io/apiserver/pkg/server/options/admission.go:50',
};

function pluginTexts(file: string): PluginTexts {
  if (file === '') return () => undefined;
  const read = readTextFile(file);
  if (!read.ok) {
    throw new ConfigError(`unable to read admission control configuration from ${goQuote(file)} [${read.error}]`);
  }
  let object: Partial<AdmissionConfiguration>;
  try {
    const decoded = decodeConfig(read.text, KINDS);
    if (decoded.kind !== 'AdmissionConfiguration') throw new ConfigError(`unexpected type: *apiserver.${decoded.kind}`);
    object = decoded.object;
  } catch (error) {
    const legacy = error instanceof UnknownKind && legacyTexts(read.text);
    if (legacy) return legacy;
    throw error;
  }
  return (wanted) => {
    const index = object.plugins?.findIndex(({ name }) => name === wanted) ?? -1;
    const plugin = object.plugins?.[index];
    if (plugin === undefined) return undefined;
    if (plugin.configuration !== null && plugin.configuration !== undefined) {
      return inlineText(read.text, index) ?? encodeTree(plugin.configuration);
    }
    return plugin.path === '' ? undefined : fileText(path.resolve(path.dirname(file), plugin.path));
  };
}

/** As it was written, where that was JSON. */
const inlineText = (text: string, index: number): string | undefined =>
  isJsonText(text) && isJson(text) ? jsonSlice(text, ['plugins', index, 'configuration']) : undefined;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function fileText(file: string): string {
  const read = readTextFile(file);
  if (!read.ok) throw new ConfigError(`Couldn't open admission plugin configuration ${file}: ${read.error}`);
  return read.text;
}

const LEGACY_MEMBERS = ['imagePolicy', 'podNodeSelectorPluginConfig'];

/** Before there was a file for all plugins, the file was the configuration of one of these two. */
function legacyTexts(text: string): PluginTexts | undefined {
  try {
    const tree = readTree(text);
    if (!LEGACY_MEMBERS.some((member) => Object.hasOwn(tree, member))) return undefined;
  } catch {
    return undefined;
  }
  return (plugin) => (plugin === 'ImagePolicyWebhook' || plugin === 'PodNodeSelector' ? text : undefined);
}

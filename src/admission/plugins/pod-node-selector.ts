import { ownMember } from '../../lib/values/plain-object.js';
import { parseLabelMap } from '../label-map.js';
import { forbidden, notFound, StatusError } from '../../machinery/status.js';
import type { Pod } from '../../schema/generated/core.v1.js';
import { onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
const CLUSTER_DEFAULT = 'clusterDefaultNodeSelector';

/** From the plugin's configuration: the selector of the whole cluster by CLUSTER_DEFAULT, and one by namespace. */
export type NodeSelectors = Readonly<Record<string, string>>;

/** Keeps the pods of a namespace on the nodes it may use. */
export const podNodeSelector = (selectors: NodeSelectors): AdmissionPlugin => ({
  name: 'PodNodeSelector',
  handles: (operation) => operation === 'CREATE',
  admit: onlyFor('', 'pods', async (attributes) => {
    const { spec } = attributes.object as Pod;
    const required = await namespaceSelector(selectors, attributes);
    checkConflicts(attributes, required);
    const merged = { ...required, ...spec.nodeSelector };
    if (Object.keys(merged).length > 0) spec.nodeSelector = merged;
    checkAllowed(selectors, attributes);
  }),
  validate: onlyFor('', 'pods', async (attributes) => {
    checkConflicts(attributes, await namespaceSelector(selectors, attributes));
    checkAllowed(selectors, attributes);
  }),
});

async function namespaceSelector(
  selectors: NodeSelectors,
  { context, namespace }: AdmissionAttributes,
): Promise<Record<string, string>> {
  const found = await context.lookup.get(NAMESPACES, '', namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  return labelsOf(found.metadata.annotations?.[ANNOTATION] ?? selectors[CLUSTER_DEFAULT] ?? '');
}

function checkConflicts(attributes: AdmissionAttributes, required: Readonly<Record<string, string>>): void {
  const { metadata, spec } = attributes.object as Pod;
  const conflicts = Object.entries(required).some(
    ([key, value]) => (ownMember(spec.nodeSelector, key) ?? value) !== value,
  );
  if (!conflicts) return;
  const why = 'pod node label selector conflicts with its namespace node label selector';
  throw forbidden(attributes.resource, metadata.name ?? '', why);
}

function checkAllowed(selectors: NodeSelectors, attributes: AdmissionAttributes): void {
  const { metadata, spec } = attributes.object as Pod;
  const allowed = labelsOf(ownMember(selectors, attributes.namespace) ?? '');
  if (Object.keys(allowed).length === 0) return;
  if (Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => allowed[key] === value)) return;
  const why = 'pod node label selector labels conflict with its namespace whitelist';
  throw forbidden(attributes.resource, metadata.name ?? '', why);
}

/** What an administrator wrote wrongly is no fault of the request. */
function labelsOf(text: string): Record<string, string> {
  const parsed = parseLabelMap(text);
  if (typeof parsed === 'string') throw new StatusError(500, '', parsed);
  return parsed;
}

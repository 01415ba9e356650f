import { append } from '../../lib/values/append.js';
import { errorText } from '../../lib/text/error-text.js';
import { cannotUnmarshal } from '../../lib/go/json-kind.js';
import { computeQosClass } from '../../apis/core/pod/qos.js';
import { notFound, StatusError } from '../../machinery/status.js';
import type { Pod, Toleration } from '../../schema/generated/core.v1.js';
import { mustType } from '../../schema/catalogue.js';
import { DecodeError, normalize, parseJsonTree } from '../../schema/json/decode.js';
import { onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';
import { allowedBy, mergeTolerations } from '../tolerations.js';

const NAMESPACES = { group: '', resource: 'namespaces' };
const DEFAULTS = 'scheduler.alpha.kubernetes.io/defaultTolerations';
const ALLOWED = 'scheduler.alpha.kubernetes.io/tolerationsWhitelist';

/** The cluster's own lists, for namespaces that have none. */
export interface TolerationLists {
  readonly default: readonly Toleration[];
  readonly whitelist: readonly Toleration[];
}

/** Gives the pods of a namespace its tolerations, and refuses those it may not have. */
export const podTolerationRestriction = (cluster: TolerationLists): AdmissionPlugin => ({
  name: 'PodTolerationRestriction',
  handles: (operation) => operation === 'CREATE' || operation === 'UPDATE',
  admit: onlyFor('', 'pods', async (attributes) => {
    const { spec, status } = attributes.object as Pod;
    const added: Toleration[] = [];
    if (attributes.operation === 'CREATE') {
      append(added, (await ofNamespace(attributes, DEFAULTS)) ?? cluster.default);
    }
    // A pod that requests resources is not the first to be evicted when memory runs short.
    if ((status?.qosClass || computeQosClass(spec)) !== 'BestEffort') {
      added.push({ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' });
    }
    if (added.length > 0) spec.tolerations = mergeTolerations(spec.tolerations ?? [], added);
    await check(cluster, attributes);
  }),
  validate: onlyFor('', 'pods', (attributes) => check(cluster, attributes)),
});

async function check(cluster: TolerationLists, attributes: AdmissionAttributes): Promise<void> {
  const tolerations = (attributes.object as Pod).spec.tolerations ?? [];
  if (tolerations.length === 0) return;
  const own = await ofNamespace(attributes, ALLOWED);
  if (allowedBy(tolerations, own ?? cluster.whitelist)) return;
  const scope = own === undefined ? 'cluster' : 'namespace';
  throw new StatusError(
    500,
    '',
    `pod tolerations (possibly merged with namespace default tolerations) conflict with its ${scope} whitelist`,
  );
}

/** The list a namespace states in an annotation; undefined when it has none. */
async function ofNamespace(
  { context, namespace }: AdmissionAttributes,
  annotation: string,
): Promise<readonly Toleration[] | undefined> {
  const found = await context.lookup.get(NAMESPACES, '', namespace);
  if (found === undefined) throw notFound(NAMESPACES, namespace);
  const text = found.metadata.annotations?.[annotation];
  if (text === undefined) return undefined;
  return text === '' ? [] : parseTolerations(text);
}

function parseTolerations(text: string): readonly Toleration[] {
  try {
    const parsed = parseJsonTree(text).value ?? [];
    if (!Array.isArray(parsed)) {
      throw new DecodeError(cannotUnmarshal(parsed, 'Go value of type []v1.Toleration'));
    }
    const type = mustType('io.k8s.api.core.v1.Toleration');
    return parsed.map((item) => normalize(type, item ?? {}) as Toleration);
  } catch (error) {
    throw new StatusError(500, '', errorText(error));
  }
}

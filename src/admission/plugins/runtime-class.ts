import { ownMember } from '../../lib/values/plain-object.js';
import { deepEqual } from '../../lib/values/deep-equal.js';
import { goQuote } from '../../lib/go/quote.js';
import { type MaybePromise, whenReady } from '../../lib/async/maybe-promise.js';
import { wasExplicitEmpty } from '../../machinery/explicit-empty.js';
import { addSizeHint } from '../../machinery/size-hint.js';
import { compareQuantities } from '../../machinery/quantity.js';
import { StatusError } from '../../machinery/status.js';
import type { Pod, PodSpec, ResourceList } from '../../schema/generated/core.v1.js';
import type { RuntimeClass } from '../../schema/generated/node.v1.js';
import { requestNameFault } from '../requested-name.js';
import { forbid, onlyFor } from '../forbid.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../plugin.js';
import { mergeTolerations } from '../tolerations.js';

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' };
/** The approximate encoded size of each entry that is copied from a class. */
const ENTRY_BYTES = 50;
const MISMATCH = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

/** Gives a pod what its runtime costs beyond its containers, and sends it to the nodes that have the runtime. */
export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  handles: (operation) => operation === 'CREATE',
  // hot: every pod, and few name a class.
  admit: onlyFor('', 'pods', (attributes) =>
    whenReady(classOf(attributes), (found) => (found === undefined ? undefined : takeOver(attributes, found))),
  ),
  validate: onlyFor('', 'pods', (attributes) => whenReady(classOf(attributes), (found) => compare(attributes, found))),
};

function classOf(attributes: AdmissionAttributes): MaybePromise<RuntimeClass | undefined> {
  const name = (attributes.object as Pod).spec.runtimeClassName;
  if (name === undefined) return undefined;
  return whenReady(attributes.context.lookup.get(RUNTIME_CLASSES, '', name), (found) => {
    if (found !== undefined) return found as RuntimeClass;
    const fault = requestNameFault(name);
    if (fault !== undefined) throw new StatusError(500, '', fault);
    throw forbid(attributes, `pod rejected: RuntimeClass ${goQuote(name)} not found`);
  });
}

function takeOver(attributes: AdmissionAttributes, found: RuntimeClass): void {
  const { spec } = attributes.object as Pod;
  setOverhead(attributes, spec, found);
  setScheduling(attributes, spec, found);
  const { nodeSelector = {}, tolerations = [] } = found.scheduling ?? {};
  const copied = Object.keys(found.overhead?.podFixed ?? {}).length + Object.keys(nodeSelector).length;
  addSizeHint(attributes.object as Pod, ENTRY_BYTES * (copied + tolerations.length));
}

function compare(attributes: AdmissionAttributes, found: RuntimeClass | undefined): void {
  const { spec } = attributes.object as Pod;
  if (found?.overhead) {
    if (!sameAmounts(found.overhead.podFixed, spec.overhead)) throw forbid(attributes, MISMATCH);
  } else if (spec.overhead !== undefined || wasExplicitEmpty(spec, 'overhead')) {
    throw forbid(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
}

function setOverhead(attributes: AdmissionAttributes, spec: PodSpec, { overhead }: RuntimeClass): void {
  if (!overhead) return;
  const given = Object.keys(spec.overhead ?? {}).length > 0;
  if (given && !sameAmounts(overhead.podFixed, spec.overhead)) throw forbid(attributes, MISMATCH);
  if (overhead.podFixed === undefined) delete spec.overhead;
  else spec.overhead = { ...overhead.podFixed };
}

function setScheduling(attributes: AdmissionAttributes, spec: PodSpec, { scheduling }: RuntimeClass): void {
  if (!scheduling) return;
  const selector = { ...spec.nodeSelector };
  for (const [key, value] of Object.entries(scheduling.nodeSelector ?? {})) {
    const own = ownMember(selector, key);
    if (own !== undefined && own !== value) {
      throw forbid(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      );
    }
    selector[key] = value;
  }
  if (Object.keys(selector).length > 0) spec.nodeSelector = selector;
  const tolerations = mergeTolerations(spec.tolerations ?? [], scheduling.tolerations ?? []);
  if (tolerations.length > 0) spec.tolerations = tolerations;
}

function sameAmounts(left: Readonly<ResourceList> = {}, right: Readonly<ResourceList> = {}): boolean {
  const names = Object.keys(left);
  if (!deepEqual(names.sort(), Object.keys(right).sort())) return false;
  return names.every((name) => compareQuantities(left[name] ?? '0', right[name] ?? '0') === 0);
}

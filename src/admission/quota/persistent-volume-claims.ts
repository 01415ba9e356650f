import { BETA_STORAGE_CLASS } from '../../apis/core/shared/volume-rules.js';
import {
  compareQuantities,
  formatQuantity,
  parseQuantity,
  quantityFrom,
  scaledValue,
} from '../../machinery/quantity.js';
import type { LifeContext } from '../../registry/kind.js';
import type { PersistentVolumeClaim, ResourceList } from '../../schema/generated/core.v1.js';
import type { AdmissionAttributes } from '../plugin.js';
import type { QuotaEvaluator } from './evaluator.js';
import { scopeSelects } from './scope.js';

const COUNTED = ['persistentvolumeclaims', 'requests.storage'];
const BY_CLASS = '.storageclass.storage.k8s.io/';
const ATTRIBUTES_SCOPE = 'VolumeAttributesClass';

export const claimEvaluator: QuotaEvaluator = {
  resource: { group: '', resource: 'persistentvolumeclaims' },
  handles: isCounted,
  counts: (name) =>
    name === 'count/persistentvolumeclaims' ||
    COUNTED.some((counted) => name === counted || name.endsWith(BY_CLASS + counted)),
  matchesScope(scope, object, { features }) {
    if (scope.scopeName !== ATTRIBUTES_SCOPE || !features.enabled('VolumeAttributesClass')) return false;
    const classes = attributesClasses(object as PersistentVolumeClaim);
    if (classes.size === 0) return scopeSelects(scope, undefined);
    return [...classes].some((name) => scopeSelects(scope, name));
  },
  usage: (object, context) => usageOf(object as PersistentVolumeClaim, context),
};

function isCounted({ operation, subresource, object, old, context }: AdmissionAttributes): boolean {
  if (subresource === '') return operation === 'CREATE' || operation === 'UPDATE';
  if (subresource !== 'status' || old === undefined) return false;
  // What is allocated stands in the status, so any write to it may count.
  if (context.features.enabled('RecoverVolumeExpansionFailure')) return true;
  if (!context.features.enabled('VolumeAttributesClass')) return false;
  const [now, before] = [object, old].map((claim) => attributesClasses(claim as PersistentVolumeClaim));
  return now?.size !== before?.size || [...(now ?? [])].some((name) => before?.has(name) !== true);
}

/** The class wanted, the one in force, and the one on its way. */
function attributesClasses({ spec, status }: PersistentVolumeClaim): ReadonlySet<string> {
  const names = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return new Set(names.filter((name) => name !== undefined && name !== '') as string[]);
}

function usageOf(claim: PersistentVolumeClaim, context: LifeContext): ResourceList {
  const storageClass = claim.metadata.annotations?.[BETA_STORAGE_CLASS] ?? claim.spec.storageClassName ?? '';
  const storage = storageOf(claim, context);
  const usage: ResourceList = { persistentvolumeclaims: '1', 'count/persistentvolumeclaims': '1' };
  if (storage !== undefined) usage['requests.storage'] = storage;
  if (storageClass === '') return usage;
  usage[`${storageClass}${BY_CLASS}persistentvolumeclaims`] = '1';
  if (storage !== undefined) usage[`${storageClass}${BY_CLASS}requests.storage`] = storage;
  return usage;
}

/** In whole bytes; what is allocated already counts when it is more than the request. */
function storageOf({ spec, status }: PersistentVolumeClaim, { features }: LifeContext): string | undefined {
  const requested = spec.resources?.requests?.['storage'];
  if (requested === undefined) return undefined;
  const allocated = status?.allocatedResources?.['storage'];
  const recovers = features.enabled('RecoverVolumeExpansionFailure');
  const counts = recovers && allocated !== undefined && compareQuantities(allocated, whole(requested)) > 0;
  return whole(counts ? allocated : requested);
}

function whole(text: string): string {
  const quantity = parseQuantity(text);
  const rounded = quantityFrom(scaledValue(quantity), quantity.format);
  return compareQuantities(quantity, rounded) === 0 ? text : formatQuantity(rounded);
}

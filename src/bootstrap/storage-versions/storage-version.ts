// A StorageVersion object as the servers together fill it: who writes what, and whether all agree.
import type {
  ServerStorageVersion,
  StorageVersionCondition,
  StorageVersionStatus,
} from '../../schema/generated/apiserverinternal.v1alpha1.js';

const AGREED = 'AllEncodingVersionsEqual';

/** The status once this server's own versions are in it. */
export function withServer(
  { storageVersions = [], commonEncodingVersion: before, conditions = [] }: Readonly<StorageVersionStatus>,
  own: ServerStorageVersion,
  now: string,
): StorageVersionStatus {
  const isKnown = storageVersions.some(({ apiServerID }) => apiServerID === own.apiServerID);
  const all = isKnown
    ? storageVersions.map((each) => (each.apiServerID === own.apiServerID ? own : each))
    : [...storageVersions, own];
  const first = all[0]?.encodingVersion;
  const common = all.every(({ encodingVersion }) => encodingVersion === first) ? first : undefined;
  const changed = before !== undefined && common !== undefined && before !== common;
  return {
    storageVersions: all,
    ...(common !== undefined && { commonEncodingVersion: common }),
    conditions: withAgreement(conditions, common !== undefined, changed, now),
  };
}

function withAgreement(
  conditions: readonly StorageVersionCondition[],
  agreed: boolean,
  changed: boolean,
  now: string,
): StorageVersionCondition[] {
  const status = agreed ? 'True' : 'False';
  const old = conditions.find(({ type }) => type === AGREED);
  const isSame = old !== undefined && old.status === status && !changed;
  const condition: StorageVersionCondition = {
    type: AGREED,
    status,
    lastTransitionTime: isSame ? old.lastTransitionTime : now,
    reason: agreed ? 'CommonEncodingVersionSet' : 'CommonEncodingVersionUnset',
    message: agreed ? 'Common encoding version set' : 'Common encoding version unset',
  };
  return old === undefined ? [...conditions, condition] : conditions.map((each) => (each === old ? condition : each));
}

// Version v1beta1 has a request's wishes on the request itself, and a device's members one level deeper.
import type * as v1 from '../../schema/generated/resource.v1.js';
import type * as v1beta1 from '../../schema/generated/resource.v1beta1.js';
import { defaultCount, defaultTolerations, defaultWanted } from './defaults.js';

export function defaultOldClaim(claim: v1.DeviceClaim): void {
  for (const request of (claim as v1beta1.DeviceClaim).requests ?? []) {
    // Without a class the request has alternatives, and nothing of its own to count.
    if (request.deviceClassName !== '') defaultCount(request);
    defaultTolerations(request);
    for (const alternative of request.firstAvailable ?? []) defaultWanted(alternative);
  }
}

export function claimFromOld(claim: v1.DeviceClaim): v1.DeviceClaim {
  const { requests } = claim as v1beta1.DeviceClaim;
  return { ...claim, requests: requests?.map(requestFromOld) ?? null };
}

export function claimToOld(claim: v1.DeviceClaim): v1.DeviceClaim {
  const old: v1beta1.DeviceClaim = { ...claim, requests: claim.requests?.map(requestToOld) ?? null };
  return old;
}

function requestFromOld({ name, firstAvailable, ...wanted }: v1beta1.DeviceRequest): v1.DeviceRequest {
  const { deviceClassName, ...rest } = wanted;
  const wantsAnything = deviceClassName !== '' || Object.keys(rest).length > 0;
  return {
    name,
    ...(wantsAnything ? { exactly: wanted } : {}),
    ...(firstAvailable === undefined ? {} : { firstAvailable }),
  };
}

const requestToOld = ({ name, exactly, firstAvailable }: v1.DeviceRequest): v1beta1.DeviceRequest => ({
  name,
  ...(exactly ?? { deviceClassName: '' }),
  ...(firstAvailable === undefined ? {} : { firstAvailable }),
});

export function sliceFromOld(slice: v1.ResourceSlice): v1.ResourceSlice {
  const { devices } = slice.spec as v1beta1.ResourceSliceSpec;
  slice.spec.devices = devices?.map(({ name, basic }) => ({ name, ...basic })) ?? null;
  return slice;
}

export function sliceToOld(slice: v1.ResourceSlice): v1.ResourceSlice {
  const devices: v1beta1.Device[] | null = slice.spec.devices?.map(({ name, ...basic }) => ({ name, basic })) ?? null;
  Object.assign(slice.spec, { devices });
  return slice;
}

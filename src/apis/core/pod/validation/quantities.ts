import { compareQuantities, int64Value, quantitySign } from '../../../../machinery/quantity.js';

export const isNegative = (quantity: string | undefined): boolean =>
  quantity !== undefined && quantity.charCodeAt(0) === 0x2d && quantitySign(quantity) < 0;

/** True for 1, 5Gi or 2000m; false for 1500m, and for what kube-apiserver's thousandths have no room for, as 1Ei. */
export const isWhole = (quantity: string): boolean =>
  SMALL_WHOLE.test(quantity) || int64Value(quantity, -3) % 1000n === 0n;

// hot: nearly every quantity, and thousandths of it are below 2^63.
const SMALL_WHOLE = /^(?:[0-9]{1,9}(?:Ki|Mi|k|M)?|[0-9]{1,6}(?:Gi|G))$/;

export const exceeds = (quantity: string, limit: string): boolean => compareQuantities(quantity, limit) > 0;
export const equals = (left: string, right: string): boolean => left === right || compareQuantities(left, right) === 0;

import { compareQuantities, int64Value, quantitySign } from '../../../../machinery/quantity.js';

export const isNegative = (quantity: string | undefined): boolean =>
  quantity !== undefined && quantity.charCodeAt(0) === 0x2d && quantitySign(quantity) < 0;

/** True for 1, 5Gi or 2000m; false for 1500m, and for what kube-apiserver's thousandths have no room for, as 1Ei. */
export const isWhole = (quantity: string): boolean => int64Value(quantity, -3) % 1000n === 0n;

export const exceeds = (quantity: string, limit: string): boolean => compareQuantities(quantity, limit) > 0;
export const equals = (left: string, right: string): boolean => left === right || compareQuantities(left, right) === 0;

import { formatQuantity, int64Value, parseQuantity, quantitySign, scaledValue } from '../../../machinery/quantity.js';
import { type FieldErrors, type FieldPath, invalid } from '../../../machinery/field-error.js';

export type ResourceList = Record<string, string>;

/** Thousandths are the finest amount the API keeps: what is finer is rounded up, as it always was. */
export function roundResources(list: ResourceList | undefined): void {
  for (const [name, text] of Object.entries(list ?? {})) {
    // hot: nearly every quantity is whole or in thousandths, and is left as it is.
    if (list === undefined || !/[nu]|\.\d{4}|e-|E-/.test(text)) continue;
    const { exponent, format } = parseQuantity(text);
    if (exponent >= -3) continue;
    list[name] = formatQuantity({ unscaled: scaledValue(text, -3), exponent: -3, format });
  }
}

export const validatePositiveQuantity = (quantity: string, path: FieldPath): FieldErrors =>
  quantitySign(quantity) <= 0 ? [invalid(path, quantity, 'must be greater than zero')] : [];

/** An amount of storage; the number is shown without its suffix, and as it is in 64 bits. */
export function validateStorageAmount(quantity: string, path: FieldPath): FieldErrors {
  const value = int64Value(quantity);
  return value < 0n ? [invalid(path, value, 'must be a valid resource quantity')] : [];
}

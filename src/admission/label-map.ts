import { fieldErrorText, FieldPath, invalid } from '../machinery/field-error.js';
import { isQualifiedName, isValidLabelValue } from '../machinery/validation/names.js';

/** `a=b,c=d` as labels, or what is wrong with the text. */
export function parseLabelMap(text: string): Record<string, string> | string {
  const labels: Record<string, string> = {};
  for (const pair of text === '' ? [] : text.split(',')) {
    const parts = pair.split('=');
    if (parts.length !== 2) return `invalid selector: [${parts.join(' ')}]`;
    const [key = '', value = ''] = parts.map((part) => part.trim());
    const wrongKey = isQualifiedName(key);
    if (wrongKey.length > 0) return fieldErrorText(invalid(undefined, key, wrongKey.join('; ')));
    const wrongValue = isValidLabelValue(value);
    if (wrongValue.length > 0) return fieldErrorText(invalid(FieldPath.of(`[${key}]`), value, wrongValue.join('; ')));
    labels[key] = value;
  }
  return labels;
}

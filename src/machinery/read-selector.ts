// Selectors for callers that do not refuse them: an invalid selector narrows nothing.
import { type FieldRequirement, parseFieldSelector } from './field-selector.js';
import { type LabelRequirement, SelectorError } from './label-requirement.js';
import { parseLabelSelector } from './label-selector.js';

export const readFieldSelector = (text: string): readonly FieldRequirement[] =>
  requirementsOf(parseFieldSelector, text);
export const readLabelSelector = (text: string): readonly LabelRequirement[] =>
  requirementsOf(parseLabelSelector, text);

function requirementsOf<T>(
  parse: (text: string) => { readonly requirements: readonly T[] },
  text: string,
): readonly T[] {
  try {
    return parse(text).requirements;
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

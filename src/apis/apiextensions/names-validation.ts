import { append } from '../../lib/values/append.js';
import { type FieldErrors, type FieldPath, invalid, required } from '../../machinery/field-error.js';
import { isDns1035Label } from '../../machinery/validation/names.js';
import type { CustomResourceDefinitionNames } from '../../schema/generated/apiextensions.v1.js';

/** A definition must have these; those its status accepted may be missing. */
export function validateRequiredNames(names: Readonly<CustomResourceDefinitionNames>, path: FieldPath): FieldErrors {
  return (['plural', 'singular', 'kind', 'listKind'] as const)
    .filter((member) => !names[member])
    .map((member) => required(path.child(member)));
}

export function validateNames(names: Readonly<CustomResourceDefinitionNames>, path: FieldPath): FieldErrors {
  const { plural, singular = '', kind, listKind = '', shortNames = [], categories = [] } = names;
  const errors = [
    ...label(plural, path.child('plural')),
    ...label(singular, path.child('singular')),
    ...kindLabel(kind, path.child('kind')),
    ...kindLabel(listKind, path.child('listKind')),
  ];
  for (const [i, name] of shortNames.entries()) append(errors, oneLabel(name, path.child('shortNames').index(i)));
  if (kind !== '' && kind === listKind) {
    errors.push(invalid(path.child('listKind'), listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, category] of categories.entries()) {
    append(errors, oneLabel(category, path.child('categories').index(i)));
  }
  return errors;
}

const label = (name: string, path: FieldPath): FieldErrors => (name === '' ? [] : oneLabel(name, path));

function oneLabel(name: string, path: FieldPath): FieldErrors {
  const wrong = isDns1035Label(name);
  return wrong.length === 0 ? [] : [invalid(path, name, wrong.join(','))];
}

function kindLabel(kind: string, path: FieldPath): FieldErrors {
  const wrong = kind === '' ? [] : isDns1035Label(kind.toLowerCase());
  if (wrong.length === 0) return [];
  return [invalid(path, kind, `may have mixed case, but should otherwise match: ${wrong.join(',')}`)];
}

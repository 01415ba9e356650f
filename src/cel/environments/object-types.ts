// Declared types as the checker knows them: an object type has a name, made of the way that leads to it from the root.
import type { ObjectTypeDeclaration, ObjectTypes } from '../environment.js';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  STRING,
  TIMESTAMP,
  listType,
  mapType,
  objectType,
} from '../type.js';
import type { DeclaredType, ScalarType } from './declared-type.js';
import { RESERVED_WORDS } from './field-names.js';

export interface NamedTypes {
  readonly root: CelType;
  readonly types: ObjectTypes;
}

/** `rootName` names the type when it is an object. */
export function nameTypes(root: DeclaredType, rootName: string): NamedTypes {
  const known = new Map<string, ObjectTypeDeclaration>();
  const celType = name(root, rootName, known);
  return { root: celType, types: { find: (typeName) => known.get(typeName) } };
}

const SCALARS: Readonly<Record<ScalarType['kind'], CelType>> = {
  bool: BOOL,
  bytes: BYTES,
  double: DOUBLE,
  duration: DURATION,
  dyn: DYN,
  int: INT,
  string: STRING,
  timestamp: TIMESTAMP,
};

function name(declared: DeclaredType, path: string, known: Map<string, ObjectTypeDeclaration>): CelType {
  switch (declared.kind) {
    case 'list':
      return listType(name(declared.element, `${path}.@idx`, known));
    case 'map':
      return mapType(STRING, name(declared.element, `${path}.@elem`, known));
    case 'object': {
      const fields = new Map<string, CelType>();
      for (const [field, type] of declared.fields) fields.set(field, name(type, `${path}.${field}`, known));
      const declaration = objectDeclaration(path, fields);
      known.set(path, declaration);
      return declaration.type;
    }
    default:
      return SCALARS[declared.kind];
  }
}

/** An object type with these fields. A field named like a word of the language may be written without its escape. */
export function objectDeclaration(typeName: string, fields: ReadonlyMap<string, CelType>): ObjectTypeDeclaration {
  return {
    type: objectType(typeName),
    field: (field) => fields.get(field) ?? (RESERVED_WORDS.has(field) ? fields.get(`__${field}__`) : undefined),
  };
}

// What an environment declares, joined from its libraries and ready to be looked up.
import type { EnvironmentOptions, LanguageSettings, ObjectTypeDeclaration } from '../environment.js';
import type { FunctionDeclaration, Library, Macro, Overload } from '../library.js';
import { macroKey } from '../syntax/parse-context.js';
import type { CelType } from '../type.js';

export interface DeclaredOverload extends Overload {
  /** Names of the type parameters in the signature. */
  readonly typeParameters: readonly string[];
}

export interface DeclaredFunction {
  readonly name: string;
  readonly dispatch: FunctionDeclaration['dispatch'];
  readonly overloads: readonly DeclaredOverload[];
}

const DEFAULT_SETTINGS: LanguageSettings = {
  crossTypeNumericComparisons: true,
  homogeneousLiterals: true,
  optionalSyntax: true,
  literalValidation: true,
  presenceTestHasCost: false,
  escapedIdentifiers: false,
};

/** What libraries declare; shared by all environments with the same libraries. */
export class LibraryDeclarations {
  readonly functions = new Map<string, DeclaredFunction>();
  readonly types = new Map<string, CelType>();
  readonly macros = new Map<string, Macro>();
  readonly mixedLiterals = new Set<string>();

  constructor(readonly libraries: readonly Library[]) {
    for (const library of libraries) {
      for (const name of library.mixedLiterals ?? []) this.mixedLiterals.add(name);
      for (const type of library.types ?? []) this.types.set(type.name, type);
      for (const declaration of library.functions ?? []) this.join(declaration);
      for (const macro of library.macros ?? []) {
        this.macros.set(macroKey(macro.name, macro.arguments, macro.receiver), macro);
      }
    }
  }

  private join({ name, dispatch, overloads }: FunctionDeclaration): void {
    const before = this.functions.get(name);
    const own = overloads.map((o) => ({ ...o, typeParameters: typeParametersOf(o) }));
    // A later declaration of the same overload replaces the earlier one.
    const kept = (before?.overloads ?? []).filter((o) => !own.some((n) => n.id === o.id));
    this.functions.set(name, { name, dispatch: dispatch ?? before?.dispatch, overloads: [...kept, ...own] });
  }
}

export class Declarations {
  readonly settings: LanguageSettings;

  constructor(
    readonly options: EnvironmentOptions,
    readonly libraries: LibraryDeclarations,
  ) {
    this.settings = { ...DEFAULT_SETTINGS, ...options.settings };
  }
  variable(name: string): CelType | undefined {
    const variables = this.options.variables;
    return variables !== undefined && Object.hasOwn(variables, name) ? variables[name] : undefined;
  }
  /** A type that may be named as a value. */
  namedType(name: string): CelType | undefined {
    return this.objectType(name)?.type ?? this.libraries.types.get(name);
  }
  objectType(name: string): ObjectTypeDeclaration | undefined {
    return this.options.objectTypes?.find(name);
  }
  function(name: string): DeclaredFunction | undefined {
    return this.libraries.functions.get(name);
  }
}

function typeParametersOf({ parameters, result }: Overload): readonly string[] {
  const names = new Set<string>();
  const visit = (type: CelType): void => {
    if (type.kind === 'type-param') names.add(type.name);
    type.parameters.forEach(visit);
  };
  parameters.forEach(visit);
  visit(result);
  return [...names];
}

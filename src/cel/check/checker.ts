// Gives every node its type, resolves names and overloads, and reports what does not fit, in kube-apiserver's words.
import {
  allAssignable,
  assignable,
  mostGeneral,
  substitute,
  Substitutions,
  unwrapOptional,
  wrapOptional,
} from './assignable.js';
import type { DeclaredFunction, DeclaredOverload, Declarations } from './declarations.js';
import { Scope } from './scope.js';
import type {
  CallExpr,
  ComprehensionExpr,
  Expr,
  IdentExpr,
  ListExpr,
  MapExpr,
  SelectExpr,
  StructExpr,
} from '../syntax/expression.js';
import type { Parsed } from '../syntax/parser.js';
import { Mistakes } from '../syntax/source.js';
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DYN,
  ERROR,
  formatType,
  INT,
  isDyn,
  listType,
  mapType,
  NULL,
  optionalType,
  parameter,
  sameType,
  STRING,
  typeParam,
  typeType,
  UINT,
} from '../type.js';
import { Uint } from '../value.js';
import type { Value } from '../value.js';

export interface Checked {
  /** The tree with names resolved: qualified names are idents, calls in a namespace have no target. */
  readonly expression: Expr;
  readonly mistakes: Mistakes;
  readonly typeOf: (e: { readonly id: number }) => CelType;
  /** The overloads a call may mean, in the order of their declaration. */
  readonly overloadsOf: (e: { readonly id: number }) => readonly DeclaredOverload[];
  /** Ids of idents that name a type, with the type. */
  readonly namedTypes: ReadonlyMap<number, CelType>;
  readonly mentions: ReadonlySet<string>;
}

export function check(parsed: Parsed, declarations: Declarations): Checked {
  const checker = new Checker(parsed, declarations);
  const expression = checker.check(parsed.expression);
  const types = new Map<number, CelType>();
  for (const [id, type] of checker.types) types.set(id, substitute(checker.known, type, true));
  return {
    expression,
    mistakes: checker.mistakes,
    typeOf: ({ id }) => types.get(id) ?? DYN,
    overloadsOf: ({ id }) => checker.overloads.get(id) ?? [],
    namedTypes: checker.namedTypes,
    mentions: checker.mentions,
  };
}

const CROSS_TYPE = /^(?:less|greater)(?:_equals)?_(?:double|u?int64)_(?:double|u?int64)$/;

class Checker {
  readonly mistakes: Mistakes;
  readonly types = new Map<number, CelType>();
  readonly overloads = new Map<number, readonly DeclaredOverload[]>();
  readonly namedTypes = new Map<number, CelType>();
  readonly mentions = new Set<string>();
  readonly known = new Substitutions();
  private scope = new Scope(undefined);
  private freeVariables = 0;

  constructor(
    private readonly parsed: Parsed,
    private readonly declarations: Declarations,
  ) {
    this.mistakes = new Mistakes(parsed.source);
  }

  check(e: Expr): Expr {
    switch (e.kind) {
      case 'literal':
        return this.typed(e, literalType(e.value));
      case 'ident':
        return this.ident(e);
      case 'select':
        return this.select(e);
      case 'call':
        return this.call(e);
      case 'list':
        return this.list(e);
      case 'map':
        return this.map(e);
      case 'struct':
        return this.struct(e);
      case 'comprehension':
        return this.comprehension(e);
      case 'unspecified':
        return this.typed(e, ERROR);
    }
  }

  private ident(e: IdentExpr): Expr {
    return this.resolved(e.id, e.name) ?? this.undeclared(e, e.name);
  }

  /** The ident a name stands for, if it is declared. */
  private resolved(id: number, written: string): Expr | undefined {
    const absolute = written.startsWith('.');
    const name = absolute ? written.slice(1) : written;
    const local = absolute ? undefined : this.scope.find(name);
    const variable = local ?? this.declarations.variable(name);
    if (variable !== undefined) {
      if (local === undefined) this.mentions.add(name);
      return this.typed({ kind: 'ident', id, name }, variable);
    }
    const type = this.declarations.namedType(name);
    if (type === undefined) return undefined;
    this.namedTypes.set(id, type);
    return this.typed({ kind: 'ident', id, name }, typeType(type));
  }

  private select(e: SelectExpr): Expr {
    const name = e.testOnly ? undefined : qualifiedName(e);
    const ident = name === undefined ? undefined : this.resolved(e.id, name);
    if (ident !== undefined) return ident;
    const operand = this.check(e.operand);
    const type = this.fieldOf(e, operand, e.field, false);
    return this.typed({ ...e, operand }, e.testOnly ? BOOL : substitute(this.known, type, false));
  }

  /** `operand.?field`, a call whose second argument is the field's name. */
  private optionalSelect(e: CallExpr): Expr {
    const [operand, field] = e.args;
    if (operand === undefined || field?.kind !== 'literal' || typeof field.value !== 'string') {
      this.report(e, 'unsupported optional field selection: incorrect signature. argument count: 0');
      return this.typed(e, ERROR);
    }
    const checked = this.check(operand);
    const type = this.fieldOf(e, checked, field.value, true);
    this.resolve(e, this.declarations.function('_?._')?.overloads ?? []);
    return this.typed({ ...e, args: [checked, field] }, substitute(this.known, type, false));
  }

  private fieldOf(e: Expr, operand: Expr, field: string, optional: boolean): CelType {
    const { type: target, optional: inOptional } = unwrapOptional(substitute(this.known, this.typeOf(operand), false));
    return wrapOptional(this.fieldType(e, target, field), inOptional || optional);
  }

  private fieldType(e: Expr, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return parameter(target, 1);
      case 'struct':
        return this.declaredField(e, target.name, field) ?? ERROR;
      case 'type-param':
        this.assign(DYN, target);
        return DYN;
      default:
        if (!isDyn(target) && target.kind !== 'error') {
          this.report(e, `type '${formatType(target)}' does not support field selection`);
        }
        return DYN;
    }
  }

  private declaredField(at: { readonly id: number }, typeName: string, field: string): CelType | undefined {
    const declaration = this.declarations.objectType(typeName);
    const type = declaration?.field(field);
    if (declaration === undefined) this.report(at, `unexpected failed resolution of '${typeName}'`);
    else if (type === undefined) this.report(at, `undefined field '${field}'`);
    return type;
  }

  private call(e: CallExpr): Expr {
    if (e.name === '_?._') return this.optionalSelect(e);
    const args = e.args.map((a) => this.check(a));
    if (e.target === undefined) {
      const name = e.name.startsWith('.') ? e.name.slice(1) : e.name;
      const declared = this.declarations.function(name);
      if (declared === undefined) return this.undeclared({ ...e, args }, e.name);
      return this.resolveCall({ ...e, name, args }, declared);
    }
    // `a.b.c()` is the function c of a.b, unless a function a.b.c is declared.
    const prefix = qualifiedName(e.target);
    const namespaced = prefix === undefined ? undefined : this.declarations.function(stripDot(`${prefix}.${e.name}`));
    if (namespaced !== undefined) {
      return this.resolveCall({ ...e, name: namespaced.name, target: undefined, args }, namespaced);
    }
    const target = this.check(e.target);
    const declared = this.declarations.function(e.name);
    if (declared === undefined) return this.undeclared({ ...e, target, args }, e.name);
    return this.resolveCall({ ...e, target, args }, declared);
  }

  private resolveCall(e: CallExpr, declared: DeclaredFunction): Expr {
    const operands = e.target === undefined ? e.args : [e.target, ...e.args];
    const types = operands.map((o) => this.typeOf(o));
    if (declared.name === '_&&_' || declared.name === '_||_') return this.logical(e, declared, types);
    const matching: DeclaredOverload[] = [];
    let result: CelType | undefined;
    for (const overload of declared.overloads) {
      if ((overload.member === true) !== (e.target !== undefined)) continue;
      if (!this.declarations.settings.crossTypeNumericComparisons && CROSS_TYPE.test(overload.id)) continue;
      const { parameters, result: produced } = this.instantiate(overload);
      if (!this.known.attempt((known) => allAssignable(known, types, parameters))) continue;
      matching.push(overload);
      const type = substitute(this.known, produced, false);
      if (result === undefined) result = type;
      else if (!isDyn(result) && !sameType(type, result)) result = DYN;
    }
    if (result === undefined) {
      const signature = formatSignature(
        types.map((t) => substitute(this.known, t, true)),
        e.target !== undefined,
      );
      this.report(e, `found no matching overload for '${declared.name}' applied to '${signature}'`);
      return this.typed(e, ERROR);
    }
    this.resolve(e, matching);
    return this.typed(e, result);
  }

  private logical(e: CallExpr, declared: DeclaredFunction, types: readonly CelType[]): Expr {
    let fits = true;
    e.args.forEach((argument, i) => {
      const type = types[i] ?? DYN;
      if (this.assign(type, BOOL)) return;
      this.mismatch(argument, BOOL, type);
      fits = false;
    });
    this.resolve(e, declared.overloads);
    return this.typed(e, fits ? BOOL : ERROR);
  }

  /** The overload's signature with type parameters of its own. */
  private instantiate(overload: DeclaredOverload): { parameters: readonly CelType[]; result: CelType } {
    if (overload.typeParameters.length === 0) return overload;
    const fresh = new Substitutions();
    for (const name of overload.typeParameters) fresh.add(typeParam(name), this.freeVariable());
    return {
      parameters: overload.parameters.map((p) => substitute(fresh, p, false)),
      result: substitute(fresh, overload.result, false),
    };
  }

  private list(e: ListExpr): Expr {
    let element: CelType | undefined;
    const elements = e.elements.map((item, i) => {
      const checked = this.check(item);
      const type = this.unwrapped(checked, e.optional.has(i));
      element = this.join(element, type);
      return checked;
    });
    return this.typed({ ...e, elements }, listType(element ?? this.freeVariable()));
  }

  private map(e: MapExpr): Expr {
    let keys: CelType | undefined;
    let values: CelType | undefined;
    const entries = e.entries.map((entry) => {
      const key = this.check(entry.key);
      keys = this.join(keys, this.typeOf(key));
      const value = this.check(entry.value);
      values = this.join(values, this.unwrapped(value, entry.optional));
      return { ...entry, key, value };
    });
    return this.typed({ ...e, entries }, mapType(keys ?? this.freeVariable(), values ?? this.freeVariable()));
  }

  private struct(e: StructExpr): Expr {
    const written = stripDot(e.typeName);
    const variable = this.declarations.variable(written);
    const named = this.declarations.namedType(written);
    if (variable === undefined && named === undefined) return this.undeclared(e, e.typeName);
    let type = ERROR;
    if (named === undefined) this.report(e, `'${formatType(variable ?? DYN)}' is not a type`);
    else if (named.kind !== 'struct') this.report(e, `'${named.name}' is not a message type`);
    else type = named;
    const fields = e.fields.map((field) => {
      const value = this.check(field.value);
      const declared = this.declaredField(field, type.name, field.name) ?? ERROR;
      const provided = this.unwrapped(value, field.optional);
      if (!this.assign(declared, provided)) {
        this.report(
          field,
          `expected type of field '${field.name}' is '${formatType(declared)}' but provided type is '${formatType(provided)}'`,
        );
      }
      return { ...field, value };
    });
    return this.typed({ ...e, typeName: written, fields }, type);
  }

  private comprehension(e: ComprehensionExpr): Expr {
    const range = this.check(e.range);
    const init = this.check(e.init);
    const accumulated = this.typeOf(init);
    const [first, second] = this.loopTypes(range, e.variable2 !== undefined);
    const outer = this.scope;
    const folding = new Scope(outer, { [e.accumulator]: accumulated });
    this.scope = new Scope(folding, {
      [e.variable]: first,
      ...(e.variable2 === undefined ? {} : { [e.variable2]: second }),
    });
    const condition = this.check(e.condition);
    this.expectType(condition, BOOL);
    const step = this.check(e.step);
    this.expectType(step, accumulated);
    this.scope = folding;
    const result = this.check(e.result);
    this.scope = outer;
    return this.typed(
      { ...e, range, init, condition, step, result },
      substitute(this.known, this.typeOf(result), false),
    );
  }

  /** The types of the loop's variables. */
  private loopTypes(range: Expr, two: boolean): readonly [CelType, CelType] {
    const type = substitute(this.known, this.typeOf(range), false);
    switch (type.kind) {
      case 'list':
        return two ? [INT, parameter(type, 0)] : [parameter(type, 0), DYN];
      case 'map':
        return [parameter(type, 0), parameter(type, 1)];
      case 'dyn':
      case 'error':
      case 'type-param':
        this.assign(DYN, type);
        return [DYN, DYN];
      default:
        this.report(
          range,
          `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
        );
        return [ERROR, ERROR];
    }
  }

  /** The type of an element or entry, which is optional where it is marked so. */
  private unwrapped(e: Expr, marked: boolean): CelType {
    const type = this.typeOf(e);
    if (!marked) return type;
    const inner = unwrapOptional(type);
    if (!inner.optional && !isDyn(inner.type)) this.mismatch(e, optionalType(inner.type), inner.type);
    return inner.type;
  }

  /** The common type of the elements so far and one more. */
  private join(previous: CelType | undefined, current: CelType): CelType {
    if (previous === undefined) return current;
    return this.assign(previous, current) ? mostGeneral(previous, current) : DYN;
  }

  private expectType(e: Expr, type: CelType): void {
    if (!this.assign(type, this.typeOf(e))) this.mismatch(e, type, this.typeOf(e));
  }

  private assign(from: CelType, to: CelType): boolean {
    return this.known.attempt((known) => assignable(known, from, to));
  }

  private freeVariable(): CelType {
    return typeParam(`_var${this.freeVariables++}`);
  }

  private undeclared(e: Expr, name: string): Expr {
    this.report(e, `undeclared reference to '${name}' (in container '')`);
    return this.typed(e, ERROR);
  }

  private mismatch(at: { readonly id: number }, expected: CelType, actual: CelType): void {
    this.report(at, `expected type '${formatType(expected)}' but found '${formatType(actual)}'`);
  }

  private resolve(e: Expr, overloads: readonly DeclaredOverload[]): void {
    this.overloads.set(e.id, overloads);
  }

  private typed(e: Expr, type: CelType): Expr {
    this.types.set(e.id, type);
    return e;
  }

  private typeOf(e: Expr): CelType {
    return this.types.get(e.id) ?? ERROR;
  }

  private report({ id }: { readonly id: number }, message: string): void {
    this.mistakes.report(this.parsed.source.locate(this.parsed.offsets[id] ?? 0), message);
  }
}

function literalType(value: Value): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL;
    case 'bigint':
      return INT;
    case 'number':
      return DOUBLE;
    case 'string':
      return STRING;
    default:
      return value === null ? NULL : value instanceof Uint ? UINT : BYTES;
  }
}

/** `a.b.c` as one name, if it is nothing else. */
function qualifiedName(e: Expr): string | undefined {
  if (e.kind === 'ident') return e.name;
  if (e.kind !== 'select' || e.testOnly) return undefined;
  const prefix = qualifiedName(e.operand);
  return prefix === undefined ? undefined : `${prefix}.${e.field}`;
}

const stripDot = (name: string): string => (name.startsWith('.') ? name.slice(1) : name);

function formatSignature(types: readonly CelType[], member: boolean): string {
  const [target, ...rest] = types.map(formatType);
  return member ? `${target}.(${rest.join(', ')})` : `(${types.map(formatType).join(', ')})`;
}

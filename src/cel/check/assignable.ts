// When a value of one type may stand where another is wanted, and what that says of type parameters still open.
import { CelType, isDyn, isOptionalType, optionalType, parameter, sameType, DYN } from '../type.js';

/** What is known of type parameters. */
export class Substitutions {
  private readonly known = new Map<string, CelType>();
  /** What the parameters learnt in the current trial meant before. */
  private before: (readonly [string, CelType | undefined])[] = [];

  find(type: CelType): CelType | undefined {
    return type.kind === 'type-param' ? this.known.get(type.name) : undefined;
  }
  add({ name }: CelType, type: CelType): void {
    this.before.push([name, this.known.get(name)]);
    this.known.set(name, type);
  }
  /** What a trial learns is kept when it succeeds, and forgotten otherwise. */
  attempt(trial: (known: Substitutions) => boolean): boolean {
    this.before = [];
    if (trial(this)) return true;
    for (const [name, type] of this.before.toReversed()) {
      if (type === undefined) this.known.delete(name);
      else this.known.set(name, type);
    }
    return false;
  }
}

/** Whether `from` may stand for `to`; learns substitutions on the way, also when the answer is no. */
export function assignable(known: Substitutions, from: CelType, to: CelType): boolean {
  if (to.kind === 'type-param') {
    const verdict = substitutes(known, from, to);
    if (verdict === 'valid') return true;
    if (verdict === 'contradicts') return false;
  }
  if (from.kind === 'type-param') return substitutes(known, to, from) === 'valid';
  if (isDyn(from) || isDyn(to) || from.kind === 'error' || to.kind === 'error') return true;
  if (from.kind === 'null') return nullable(to);
  if (to.kind === 'null') return nullable(from);
  switch (from.kind) {
    case 'type':
      return to.kind === 'type';
    case 'opaque':
    case 'list':
    case 'map':
      return from.kind === to.kind && from.name === to.name && allAssignable(known, from.parameters, to.parameters);
    default:
      return from.kind === to.kind && from.name === to.name;
  }
}

export function allAssignable(known: Substitutions, from: readonly CelType[], to: readonly CelType[]): boolean {
  return from.length === to.length && from.every((type, i) => assignable(known, type, to[i] ?? DYN));
}

function nullable(type: CelType): boolean {
  if (type.nullable || type.kind === 'null') return true;
  return type.kind === 'opaque' || type.kind === 'struct' || type.kind === 'duration' || type.kind === 'timestamp';
}

/** Whether the parameter may mean the type: it does already, may be widened to, or means nothing yet. */
function substitutes(known: Substitutions, type: CelType, param: CelType): 'valid' | 'contradicts' | 'unknown' {
  if (sameType(type, param)) return 'valid';
  const current = known.find(param);
  if (current !== undefined) {
    if (sameType(type, current)) return 'valid';
    if (!assignable(known, type, current)) return 'contradicts';
    const wider = mostGeneral(type, current);
    if (!occursIn(known, param, wider)) known.add(param, wider);
    return 'valid';
  }
  if (occursIn(known, param, type)) return 'unknown';
  known.add(param, type);
  return 'valid';
}

/** The more general of two types that fit each other. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  return atLeastAsGeneral(a, b) ? a : b;
}

function atLeastAsGeneral(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'type-param') return true;
  if (isDyn(b) || b.kind === 'type-param') return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'opaque':
      if (a.name !== b.name) return false;
      break;
    case 'list':
    case 'map':
      break;
    case 'type':
      return true;
    default:
      return sameType(a, b);
  }
  return (
    a.parameters.length === b.parameters.length && a.parameters.every((p, i) => atLeastAsGeneral(p, parameter(b, i)))
  );
}

/** Whether a parameter is part of a type, which would make the type endless. */
function occursIn(known: Substitutions, param: CelType, type: CelType): boolean {
  if (sameType(param, type)) return true;
  if (type.kind === 'type-param') {
    const meaning = known.find(type);
    return meaning !== undefined && occursIn(known, param, meaning);
  }
  return type.parameters.some((p) => occursIn(known, param, p));
}

/** The type with parameters replaced by what they mean; those that mean nothing become dyn if `close` is set. */
export function substitute(known: Substitutions, type: CelType, close: boolean): CelType {
  const meaning = known.find(type);
  if (meaning !== undefined) return substitute(known, meaning, close);
  if (type.kind === 'type-param') return close ? DYN : type;
  if (type.parameters.length === 0) return type;
  const parameters = type.parameters.map((p) => substitute(known, p, close));
  if (parameters.every((p, i) => p === type.parameters[i])) return type;
  return new CelType(type.kind, type.name, parameters, type);
}

/** The type inside an optional, or the type itself. */
export function unwrapOptional(type: CelType): { readonly type: CelType; readonly optional: boolean } {
  return isOptionalType(type) ? { type: parameter(type, 0), optional: true } : { type, optional: false };
}

export const wrapOptional = (type: CelType, optional: boolean): CelType => (optional ? optionalType(type) : type);

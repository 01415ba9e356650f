import {
  type AuthenticationCompiler,
  type AuthenticationExpression,
  type AuthenticationSubject,
  isFault,
} from '../../cel/environments/authentication.js';
import { type FieldErrors, type FieldPath, internal, invalid } from '../../machinery/field-error.js';

export interface CompiledExpression {
  readonly errors: FieldErrors;
  readonly expression?: AuthenticationExpression;
}

export interface ExpressionToCompile {
  readonly text: string;
  readonly subject: AuthenticationSubject;
  readonly returns: 'bool' | 'any';
  readonly path: FieldPath;
}

export function compileExpression(
  compiler: AuthenticationCompiler,
  { text, subject, returns, path }: ExpressionToCompile,
): CompiledExpression {
  const compiled = compiler.compile(text, subject, returns);
  if (!isFault(compiled)) return { errors: [], expression: compiled };
  return {
    errors: [compiled.kind === 'internal' ? internal(path, compiled.detail) : invalid(path, text, compiled.detail)],
  };
}

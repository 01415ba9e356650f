// What policies leave on the audit event of a request.
import type { ValidatingBinding } from './compile.js';

export const VALIDATION_FAILURE = 'validation.policy.admission.k8s.io/validation_failure';
const MAX_ANNOTATION_BYTES = 10 * 1024;

export class AnnotationCollector {
  private readonly given = new Map<string, string>();
  private readonly collected = new Map<string, Set<string>>();

  constructor(private readonly annotate: (key: string, value: string) => void) {}

  /** An annotation that is set is never replaced. */
  set(key: string, value: string): void {
    if (this.given.has(key)) return;
    this.given.set(key, value);
    this.annotate(key, value);
  }

  /** Bindings and parameters of one policy may each have a value; equal ones count once. */
  collect(key: string, value: string): void {
    const values = this.collected.get(key);
    if (values === undefined) this.collected.set(key, new Set([value]));
    else values.add(value);
  }

  /** Gives what was collected for a policy. */
  publish(policy: string): void {
    for (const [key, values] of this.collected) this.set(`${policy}/${key}`, [...values].join(', '));
    this.collected.clear();
  }
}

/** What does not fit is cut off, in bytes. */
export function cutAnnotation(value: string): string {
  const bytes = Buffer.from(value);
  return bytes.length <= MAX_ANNOTATION_BYTES ? value : bytes.toString('utf8', 0, MAX_ANNOTATION_BYTES);
}

/** The value of the annotation on a validation that failed: a list of one, in JSON that is safe inside HTML. */
export function failureAnnotation({ name, spec }: ValidatingBinding, expressionIndex: number, message: string): string {
  const { policyName: policy = '', validationActions = null } = spec;
  const failure = { message, policy, binding: name, expressionIndex, validationActions };
  return JSON.stringify([failure]).replace(/[<>&\u2028\u2029]/g, escaped);
}

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

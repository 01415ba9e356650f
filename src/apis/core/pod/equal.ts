// Equality by type, under which `1Gi` and `1073741824` are the same memory.
import { mustType } from '../../../schema/catalogue.js';
import { equalByType } from '../../../schema/deep-equal.js';
import type { StructType } from '../../../schema/type.js';
import type { Container, EphemeralContainer, PodSpec, PodTemplateSpec } from '../../../schema/generated/core.v1.js';

export type Same<T> = (a: Readonly<T>, b: Readonly<T>) => boolean;

/** Equality of the named type, which is looked up on first use. */
export function equalityOf<T>(typeName: string): Same<T> {
  let type: StructType | undefined;
  return (a, b) => equalByType((type ??= mustType(typeName)), a, b);
}

export const samePodSpec = equalityOf<PodSpec>('io.k8s.api.core.v1.PodSpec');
export const samePodTemplate = equalityOf<PodTemplateSpec>('io.k8s.api.core.v1.PodTemplateSpec');
export const sameContainer = equalityOf<Container>('io.k8s.api.core.v1.Container');
export const sameEphemeralContainer = equalityOf<EphemeralContainer>('io.k8s.api.core.v1.EphemeralContainer');

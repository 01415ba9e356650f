import type { Ingress } from '../../schema/generated/networking.v1.js';
import { onlyFor } from '../forbid.js';
import { newestDefault } from '../newest-default.js';
import type { AdmissionPlugin } from '../plugin.js';

const CLASSES = { group: 'networking.k8s.io', resource: 'ingressclasses' };
const DEFAULT_CLASS = 'ingressclass.kubernetes.io/is-default-class';
/** How a class was named before there was a field for it. */
const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';

/** An ingress that names no class gets the default one. */
export const defaultIngressClass: AdmissionPlugin = {
  name: 'DefaultIngressClass',
  handles: (operation) => operation === 'CREATE',
  admit: onlyFor(CLASSES.group, 'ingresses', async (attributes) => {
    const { metadata, spec } = attributes.object as Ingress;
    if (spec === undefined || spec.ingressClassName !== undefined) return;
    if (metadata.annotations?.[CLASS_ANNOTATION] !== undefined) return;
    const name = await newestDefault(attributes.context, CLASSES, [DEFAULT_CLASS]);
    if (name !== undefined) spec.ingressClassName = name;
  }),
};
